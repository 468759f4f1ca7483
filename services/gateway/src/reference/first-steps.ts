import { type Html, html } from "@vvs/http/html";
import { codeBlock } from "./code.ts";
import { program } from "./programs.ts";

/** From a key to the first calls in every language. */
export function firstSteps(baseUrl: string): Html {
  const variables = `export VENDOR_VERIFICATION_BASE_URL=${baseUrl}
export VENDOR_VERIFICATION_API_KEY=svc_test_...`;
  const python = `python3 -m venv .venv && . .venv/bin/activate
pip install ./packages/client-python`;
  return html`<p>Sign in to the dashboard, choose <em>API Keys</em> and create a test key. It is shown once. Send it with every call as <code>Authorization: Bearer</code>. A key has scopes; each operation names the one that it requires.</p>
<p>The calls on this page use these variables, and the <a href="#command-line">command line</a> reads them:</p>
${codeBlock("start-shell", "Shell", variables)}
<div data-for="typescript"><p>The TypeScript client is for Node.js 20 or newer. <code>npm pack</code> in <code>packages/client</code> of the service’s source makes it; <code>npm install ./vendor-verification-client-*.tgz</code> installs it.</p></div>
<div data-for="python"><p>The Python client is for Python 3.10 or newer. In the folder of the service’s source:</p>
${codeBlock("start-python-install", "Shell", python)}</div>
<div data-for="go"><p>The Go samples need only the standard library. Save the program as <code>main.go</code>, and start it with <code>go run main.go</code>.</p></div>
<p>Some calls need ids. This looks up a vendor, verifies it, monitors it, and verifies a list of vendors as a job; the other samples continue it:</p>
${codeBlock("start-curl", "Shell: get ids", program("start.sh"), "curl")}
${codeBlock("start-typescript", "TypeScript", program("start.mjs"), "typescript")}
${codeBlock("start-python", "Python", program("start.py"), "python")}
${codeBlock("start-go", "main.go", program("main.go"), "go")}
<p>To receive your first webhook, go on with <a href="#try-webhooks">webhooks on your machine</a>. For other languages generate a client from <a href="/v1/openapi.json">the OpenAPI document</a>. To call the service from Postman, import <a href="/docs/postman.json">the collection</a>; set its variable <code>api_key</code> and run it.</p>`;
}

/** How the command line is installed and used. */
export function commandLine(baseUrl: string): Html {
  const calls = `vendor-verification lookup --uei SANDBXACTVE1
vendor-verification verify --uei SANDBXACTVE1 --checks sam_registration
printf 'uei,legal_name\\nSANDBXACTVE1,\\nSANDBXFALLB1,\\n' > vendors.csv
vendor-verification verify vendors.csv --out results.csv
vendor-verification events`;
  const install = isLocal(baseUrl)
    ? html`<p>This service runs on your machine. In the folder from which it was started, this defines the command for your shell:</p>
${codeBlock("cli-local", "Shell", `alias vendor-verification="node '$PWD/deploy/bootstrap.mjs' '$PWD/packages/cli/src/main.ts'"`)}`
    : html`<p>It needs Node.js 20 or newer. <code>npm pack</code> in <code>packages/client</code> and in <code>packages/cli</code> of the service’s source makes two files; <code>npm install --global ./vendor-verification-c*.tgz</code> installs both.</p>
`;
  return html`${install}<p>With the variables above it is ready. To store the address and the key instead, use <code>vendor-verification login</code>. Each command describes itself with <code>--help</code>, and prints JSON with <code>--json</code>. <code>verify</code> takes one vendor, or a CSV or XLSX file of up to <a href="#many-vendors">10,000</a>.</p>
${codeBlock("cli-calls", "Shell", calls)}`;
}

/** Is this the address of a local run? Its users have the packages as source. */
function isLocal(baseUrl: string): boolean {
  return ["127.0.0.1", "localhost"].includes(new URL(baseUrl).hostname);
}
