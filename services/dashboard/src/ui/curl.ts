import { type Html, html } from "../http/html.ts";
import { copyable } from "./parts.ts";

/** A call of the public API. */
export interface ApiCall {
  /** With /v1. */
  readonly path: string;
  /** The JSON body of a POST; a GET has none. */
  readonly body?: object;
}

/** Returns a call as a curl command for a POSIX shell; the key may be a variable of the shell. */
export function curlCommand({ path, body }: ApiCall, { baseUrl, key }: { baseUrl: URL; key: string }): string {
  const url = `${baseUrl.href.replace(/\/$/, "")}${path}`;
  const lines = [
    // Some shells give a meaning of their own to a query.
    `curl ${url.includes("?") ? quoted(url) : url}`,
    `-H "Authorization: Bearer ${key}"`,
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`] : []),
  ];
  return lines.join(" \\\n  ");
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Renders a call as a curl command to copy, folded up, with a link to its operation in the API's reference. `label` says what
 * the call does, such as "Verify".
 */
export function asCurl(baseUrl: URL, operation: string, label: string, call: ApiCall): Html {
  const reference = `${baseUrl.href.replace(/\/$/, "")}/docs#${operation}`;
  return html`<details class="unprinted"><summary>${label} as curl</summary>
${copyable(`${operation}-curl`, `${label} as curl`, curlCommand(call, { baseUrl, key: "$VENDOR_VERIFICATION_API_KEY" }))}
<p class="hint"><code>VENDOR_VERIFICATION_API_KEY</code> is an API key of this environment. <a href="${reference}">Reference</a></p>
</details>`;
}
