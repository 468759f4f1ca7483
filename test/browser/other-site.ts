import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Returns a page that submits a form to `action` as soon as it opens. */
export function submittingPage(action: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return `<form method="post" action="${action}">${inputs.join("")}</form><script>document.forms[0].submit()</script>`;
}

/** Starts another party's site with one page; its port makes it another origin even on the same host. */
export async function startOtherSite(page: string): Promise<{ port: number; close(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
