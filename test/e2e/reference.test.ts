import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { VERSION } from "../../packages/cli/src/version.ts";
import { pythonOf, pythonVersions } from "../../packages/client-python/tools.ts";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { createOrganization } from "../support/organization.ts";
import { runCommand } from "../support/packed-clients.ts";
import { sharedProduct } from "../support/product.ts";
import { pageBlocks, withKey } from "../support/reference-page.ts";
import { monitorChanging } from "../support/watching-organization.ts";

const { baseUrl } = sharedProduct();
const folder = temporaryFolder();

const blocks = await pageBlocks();
const code = (id: string) => blocks.get(id)!.code;

/** Runs a shell script and returns its output. Rejects with it if a command fails. */
const run = (script: string) => runCommand("sh", ["-eu", "-c", script]);

test("every curl call on the reference page runs as it stands, with another key", async () => {
  const { keys } = await createOrganization();
  const calls = operations
    .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"))
    .map(({ docs }) => code(`${docs.operationId}-curl`));
  // An error status makes curl, and so the script, fail.
  const strict = 'curl() { command curl -sS --fail-with-body "$@"; echo; }';
  await run([withKey(blocks, keys.sandbox), strict, code("start-curl"), ...calls].join("\n"));
});

test("a list of vendors is verified as the page says", async () => {
  const { keys } = await createOrganization();
  const place = mkdtempSync(join(folder, "many-"));
  await run([`cd "${place}"`, withKey(blocks, keys.sandbox), code("many-vendors-curl")].join("\n"));
  expect(readFileSync(join(place, "results.csv"), "utf8")).toMatch(/"V-1","pass","pay"[\s\S]*"V-2","fail","hold"/);
});

test("a receipt is checked as the page says, and refused once it was altered", async () => {
  const { keys } = await createOrganization();
  const place = mkdtempSync(join(folder, "receipt-"));
  await run([`cd "${place}"`, withKey(blocks, keys.sandbox), code("start-curl"), code("receipt-get")].join("\n"));
  const [header, payload, signature] = readFileSync(join(place, "receipt.jwt"), "utf8").split(".");
  symlinkSync(join(projectRoot, "packages/client/node_modules"), join(place, "node_modules"));
  writeFileSync(join(place, "check.mjs"), code("receipt-jose"));
  const ways = [`cd "${place}"; ${code("receipt-openssl")}`, `cd "${place}"; "${process.execPath}" check.mjs`];
  for (const way of ways) expect(await run(way)).toMatch(/environment"?: ?['"]sandbox/);
  const cache = { cacheDir: serverCacheDir(process.env), log: () => undefined };
  const [python] = (await Promise.all(pythonVersions.map((version) => pythonOf(version, cache)))).filter(Boolean);
  const inPlace = `import os; os.chdir("${place}")\n${code("receipt-python")}`;
  if (python) expect((await python(["-c", inPlace])).output).toContain("'environment': 'sandbox'");
  const forged = Buffer.from(payload!, "base64url").toString().replace("sandbox", "live");
  const altered = [header, Buffer.from(forged).toString("base64url"), signature].join(".");
  writeFileSync(join(place, "receipt.jwt"), altered);
  for (const way of ways) await expect(run(way)).rejects.toThrow("ended with 1");
});

test("the shell keeps page after page of events, and its cursor also when a call fails", async () => {
  const { sandbox, keys } = await createOrganization();
  await monitorChanging(sandbox);
  const place = mkdtempSync(join(folder, "events-"));
  const keep = () => run(`cd "${place}"\n${withKey(blocks, keys.sandbox)}\n${code("keep-events-curl")}`);
  await keep();
  await keep();
  const pages = readFileSync(join(place, "pages.jsonl"), "utf8").trim().split("\n");
  const kept = pages.flatMap((page) => JSON.parse(page).events);
  expect(pages).toHaveLength(2);
  expect(kept.length).toBeGreaterThanOrEqual(2);
  const { events } = (await sandbox.get("/v1/events?after=start")).body;
  expect(kept).toEqual(events.slice(0, kept.length));

  writeFileSync(join(place, "cursor"), "invented");
  expect(await keep()).toContain("invalid_request");
  expect(readFileSync(join(place, "cursor"), "utf8")).toBe("invented");
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
  writeFileSync(join(folder, "verify.mjs"), code("webhook-verify"));
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

test("in the folder of a local run, the page's alias makes the command", async () => {
  const script = `cd "${projectRoot}"\n${code("cli-local")}\ncd "${folder}"\nvendor-verification --version`;
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
  expect(told).toHaveLength(17);
  const answered: unknown[] = [];
  for (const [name = ""] of told) {
    const { body } = /^\d$/.test(name)
      ? await verify({ identifiers: { tin: `21345678${name}` }, legal_name: "Acme LLC", checks: ["tin_match"] })
      : await verify({ identifiers: { uei: name }, checks: ["sam_registration"] });
    answered.push([name, body.results[0].status]);
  }
  expect(answered).toEqual(told);
});
