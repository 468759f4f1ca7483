import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runProcess } from "../../deploy/local/processes.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { VERSION } from "../../packages/cli/src/version.ts";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { createOrganization } from "../support/organization.ts";
import { runCommand } from "../support/packed-clients.ts";
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

/** Runs a shell script and returns its output. Rejects with it if a command fails. */
const run = (script: string) => runCommand("sh", ["-eu", "-c", script]);

/** Returns the page's variables with a key. */
const variables = (key: string) => {
  const shell = blocks.get("start-shell")!;
  expect(shell).toContain(baseUrl);
  expect(shell).toContain("=svc_test_...");
  return shell.replace("svc_test_...", key);
};

test("every curl call on the reference page runs as it stands, with another key", async () => {
  const { keys } = await createOrganization();
  const shell = variables(keys.sandbox);
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
    start[0]!.replace("@vendor-verification/client", join(projectRoot, "packages/client/src/index.ts")),
    ...start.slice(1),
    ...calls,
  ];
  writeFileSync(join(folder, "client.mjs"), script.join("\n"));
  await run(`${variables(keys.sandbox)}\n"${process.execPath}" "${join(folder, "client.mjs")}"`);
  const strict = "--noEmit --strict --allowJs --checkJs --allowImportingTsExtensions --module nodenext --target es2024";
  const types = `--types node --typeRoots "${join(projectRoot, "node_modules/@types")}"`;
  await run(
    `cd "${folder}"; "${join(projectRoot, "node_modules/.bin/tsc")}" ${strict} ${types} "${join(folder, "client.mjs")}"`,
  );
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

test("the page leads from a key to a verified webhook with the command line, as it stands", async () => {
  const { keys } = await createOrganization();
  const program = join(projectRoot, "packages/cli/src/main.ts");
  const place = mkdtempSync(join(folder, "webhook-"));
  writeFileSync(join(place, "vendor-verification"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  for (const name of ["verify", "receiver"]) {
    writeFileSync(
      join(place, name === "verify" ? "verify-webhook.mjs" : "receiver.mjs"),
      blocks.get(`webhook-${name}`)!,
    );
  }
  const waitFor = (text: string) => `until grep -q "${text}" output; do sleep 0.1; done`;
  const script = [
    `cd "${place}"; PATH="${place}:$PATH"; export PORT=${await freePort()} HOME="${place}"; exec > output 2>&1`,
    variables(keys.sandbox),
    blocks.get("cli-calls")!,
    blocks.get("webhook-listen")!,
    waitFor("Forwarding new events"),
    blocks.get("webhook-trigger")!,
    waitFor("^Verified: evt_"),
  ].join("\n");
  const { code } = await runProcess({ name: "new user", command: "sh", args: ["-euc", script] }).exited;
  const printed = readFileSync(join(place, "output"), "utf8");
  expect([code, code === 0 ? "" : printed]).toEqual([0, ""]);
  expect(readFileSync(join(place, "results.csv"), "utf8").match(/^SANDBX.*,pass,/gm)).toHaveLength(2);
});

test("in the folder of a local run, the page's alias makes the command", async () => {
  const script = `cd "${projectRoot}"\n${blocks.get("cli-local")}\ncd "${folder}"\nvendor-verification --version`;
  expect((await run(script)).trim()).toBe(VERSION);
});

test("the sandbox answers as the tables of the page say", async () => {
  const { sandbox } = await createOrganization();
  const page = await (await fetch(`${baseUrl}/docs`)).text();
  const section = /<section id="sandbox"[\s\S]*?<\/section>/.exec(page)![0];
  const rows = [...section.matchAll(/<th scope="row">(?:<code>)?([\w, ]+)(?:<\/code>)?<\/th><td>(\w+)/g)];
  const verify = (request: object) => sandbox.post("/v1/verify", { ...request, mode: "realtime" });
  const told = rows
    .flatMap(([, names = "", verdict = ""]) => names.split(", ").map((name) => [name, verdict]))
    .filter(([name]) => name !== "SANDBXCHNGE1");
  expect(told).toHaveLength(16);
  const answered: unknown[] = [];
  for (const [name = ""] of told) {
    const { body } = /^\d$/.test(name)
      ? await verify({ identifiers: { tin: `21345678${name}` }, legal_name: "Acme LLC", checks: ["tin_match"] })
      : await verify({ identifiers: { uei: name }, checks: ["sam_registration"] });
    answered.push([name, body.results[0].status]);
  }
  expect(answered).toEqual(told);
});
