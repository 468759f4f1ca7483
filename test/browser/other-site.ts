import { createServer } from "node:http";
import { listening } from "@vvs/testing";

/** Returns a page that submits a form to `action` as soon as it opens. */
export function submittingPage(action: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return `<form method="post" action="${action}">${inputs.join("")}</form><script>document.forms[0].submit()</script>`;
}

/** Starts another party's site with one page, until the tests of the file are over. Returns its port, which makes it another
 * origin even on the same host. */
export async function startOtherSite(page: string): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  return listening(server);
}
