import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { baseUrl } = sharedProduct();
const folder = mkdtempSync(join(tmpdir(), "vvs-reference-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Code blocks of the page by their id. */
let blocks: Map<string, string>;

beforeAll(async () => {
  const page = await (await fetch(`${baseUrl}/docs`)).text();
  const decoded = (text: string) =>
    text
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
  blocks = new Map(
    [...page.matchAll(/<code id="([^"]+)">([^<]*)<\/code>/g)].map(([, id, code]) => [id!, decoded(code!)]),
  );
});

/** Runs a shell script. Rejects with its output if a command fails. */
function run(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const child = spawn("sh", ["-eu", "-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(output) : reject(new Error(`exit code ${code}: ${output}`))));
  });
}

test("every curl call on the reference page runs as it stands, with another URL and key", async () => {
  const { keys } = await createOrganization();
  const shell = `export VVS_URL=${baseUrl}\nexport VVS_KEY=${keys.sandbox}`;
  expect(blocks.get("start-shell")).toMatch(/^export VVS_URL=\S+\nexport VVS_KEY=svc_test_\.\.\.$/);
  const calls = operations
    .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"))
    .map(({ docs }) => blocks.get(`${docs.operationId}-curl`)!);
  // An error status makes curl, and so the script, fail.
  const strict = 'curl() { command curl -sS --fail-with-body "$@"; echo; }';
  await run([shell, strict, blocks.get("start-ids")!, ...calls].join("\n"));
});

test("every call of the TypeScript client on the reference page runs as it stands", async () => {
  const { keys } = await createOrganization();
  const start = blocks.get("start-client")!.split("\n");
  expect(start[0]).toBe('import { createClient } from "@vendor-verification/client";');
  const calls = operations
    .filter(({ docs }) => blocks.has(`${docs.operationId}-client`))
    .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"))
    .map(({ docs }) => blocks.get(`${docs.operationId}-client`)!);
  expect(calls).toHaveLength(operations.filter(({ scope }) => scope).length);
  const script = [
    start[0]!.replace("@vendor-verification/client", join(import.meta.dirname, "../../packages/client/src/index.ts")),
    ...start.slice(1).map((line) => line.replace(/baseUrl: "[^"]*"/, `baseUrl: "${baseUrl}"`)),
    'const { id: entityId } = await client.lookup({ identifiers: { uei: "SANDBXACTVE1" } });',
    'const subject = { entity_id: entityId, checks: ["sam_registration"] };',
    'const verification = await client.verify({ ...subject, mode: "realtime" });',
    "const verificationId = verification.id;",
    "const evidenceId = verification.results[0].evidence_uri;",
    "const { id: monitorId } = await client.createMonitor(subject);",
    ...calls,
  ];
  writeFileSync(join(folder, "client.mjs"), script.join("\n"));
  await run(`VVS_KEY=${keys.sandbox} "${process.execPath}" "${join(folder, "client.mjs")}"`);
});

test("the code that verifies a webhook accepts a signed one and refuses others", async () => {
  const key = Buffer.alloc(32, 7);
  const secret = `whsec_${key.toString("base64")}`;
  const body = '{"event":"monitor.change_detected"}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`evt_1.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  const cases: readonly [accepted: boolean, body: string, headers: Readonly<Record<string, string | undefined>>][] = [
    [true, body, headers],
    [true, body, { ...headers, "webhook-signature": `v1,AAAA v1,${signature}` }],
    [false, "{}", headers],
    [false, body, { ...headers, "webhook-id": "evt_2" }],
    [false, body, { ...headers, "webhook-timestamp": String(Number(timestamp) - 600) }],
    [false, body, { ...headers, "webhook-timestamp": "soon" }],
    [false, body, { ...headers, "webhook-signature": undefined }],
  ];
  writeFileSync(join(folder, "verify.mjs"), blocks.get("webhook-verify")!);
  writeFileSync(
    join(folder, "run.mjs"),
    `import { verifyWebhook } from "./verify.mjs";
for (const [, body, headers] of ${JSON.stringify(cases)}) {
  try {
    console.log(verifyWebhook(Buffer.from(body), headers, "${secret}").event !== undefined);
  } catch {
    console.log(false);
  }
}`,
  );
  const output = await run(`"${process.execPath}" "${join(folder, "run.mjs")}"`);
  expect(output.trim().split("\n")).toEqual(cases.map(([accepted]) => String(accepted)));
});
