import { playServer } from "../outside/played-server.ts";

/** Returns a page that submits a form to `action` as soon as it opens. */
export function submittingPage(action: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return `<form method="post" action="${action}">${inputs.join("")}</form><script>document.forms[0].submit()</script>`;
}

/** Starts another party's site with one page; returns its port, which makes it another origin even on the same host. */
export async function startOtherSite(page: string): Promise<string> {
  const { url } = await playServer(
    (_call, response) => void response.writeHead(200, { "content-type": "text/html" }).end(page),
  );
  return new URL(url).port;
}
