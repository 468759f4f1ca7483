import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { ensureFetched } from "../../deploy/local/servers/downloads.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { playServer, sendJson } from "../outside/played-server.ts";
import { installPacked, packClients, runCommand } from "../support/packed-clients.ts";

/** The oldest Node that the packages support. */
const OLDEST_NODE = "20.20.2";
const folder = temporaryFolder();
const server = await playServer(({ url }, response) => {
  const verification = { id: "ver_1", entity_id: "ent_1", overall_result: "pass", results: [], new_field: [1] };
  const counts = { pass: 1, waiting: 0 };
  const job = { id: "job_1", total: 1, done: 1, counts, completed_at: "2026-11-21T09:30:00.000Z" };
  const results = { results: [{ row: 1, outcome: "pass", decision: "pay", verification }], next_cursor: null };
  const { pathname } = new URL(url, "http://localhost");
  const answers: Record<string, object> = { "/v1/jobs": job, "/v1/jobs/job_1": job, "/v1/jobs/job_1/results": results };
  sendJson(response, 200, answers[pathname] ?? verification);
});
let node: string;

beforeAll(async () => {
  write("package.json", '{"type":"module"}');
  const [program, tarballs] = await Promise.all([oldestNode(), packClients(folder)]);
  node = program;
  await installPacked(folder, tarballs);
}, 120_000);

/** Returns the program of the oldest supported Node. It comes from npm's registry, once. */
async function oldestNode(): Promise<string> {
  const download = {
    folder: `node-${OLDEST_NODE}`,
    title: `Node ${OLDEST_NODE}`,
    sizeMb: 50,
    needs: [],
    async fetch(target: string) {
      const quiet = ["--no-save", "--no-audit", "--no-fund"];
      await runCommand("npm", ["install", ...quiet, "--prefix", target, `node@${OLDEST_NODE}`], { cwd: target });
      renameSync(join(target, "node_modules/node/bin/node"), join(target, "node"));
      rmSync(join(target, "node_modules"), { recursive: true });
    },
  };
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  return join(await ensureFetched(download, { cacheDir: serverCacheDir(process.env), log }), "node");
}

const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
/** Runs a command in the project that has installed the packages. */
const run = (command: string, ...args: string[]) =>
  runCommand(command, args, {
    cwd: folder,
    env: {
      VENDOR_VERIFICATION_BASE_URL: server.url,
      VENDOR_VERIFICATION_API_KEY: `svc_test_${"a".repeat(38)}`,
    },
  });

const load = `import { createClient, signWebhook, verifyWebhook } from "@vendor-verification/client";`;
const loadDynamically = `const { createClient, signWebhook, verifyWebhook } = await import("@vendor-verification/client");`;
const use = `
const client = createClient({
  baseUrl: process.env.VENDOR_VERIFICATION_BASE_URL ?? "",
  apiKey: process.env.VENDOR_VERIFICATION_API_KEY ?? "",
});
const vendor = { uei: "SANDBXACTVE1" };
const made = await client.verify({ identifiers: vendor, checks: ["sam_registration"], mode: "realtime" });
const secret = "whsec_${Buffer.alloc(32).toString("base64")}";
const body = '{"event":"monitor.change_detected"}';
const received = await verifyWebhook(body, await signWebhook(body, { id: "evt_1", secrets: secret }), secret);
console.log(process.version, made.id, received.id, received.payload.event);
`;
const printed = `v${OLDEST_NODE} ver_1 evt_1 monitor.change_detected\n`;
const strict = ["--strict", "--target", "es2022", "--outDir", "out"];
const types = ["--types", "node", "--typeRoots", join(projectRoot, "node_modules/@types")];
const tsc = join(projectRoot, "node_modules/.bin/tsc");

test("an ES module uses the client, and a CommonJS module by a dynamic import", async () => {
  write("main.mjs", load + use);
  expect(await run(node, "main.mjs")).toBe(printed);
  write("main.cjs", `(async () => {\n${loadDynamically}${use}\n})();`);
  expect(await run(node, "main.cjs")).toBe(printed);
});

test.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("a TypeScript project with module %s and moduleResolution %s uses the client", async (module, resolution) => {
  write("main.ts", load + use);
  // No skipLibCheck: the declarations are checked too.
  const choice = ["--module", module, "--moduleResolution", resolution];
  expect(await run(tsc, ...strict, ...types, ...choice, "main.ts")).toBe("");
  expect(await run(node, "out/main.js")).toBe(printed);
  write("wrong.ts", `${load}\ncreateClient({ baseUrl: 1, apiKey: "" });`);
  await expect(run(tsc, ...strict, ...types, ...choice, "wrong.ts")).rejects.toThrow("TS2322");
});

test("the command line prints its help and version, makes a call, and reads a file", async () => {
  const command = (...args: string[]) => run(node, "node_modules/.bin/vendor-verification", ...args);
  const { version } = JSON.parse(readFileSync(join(projectRoot, "packages/cli/package.json"), "utf8"));
  expect(await command("--version")).toBe(`${version}\n`);
  expect(await command("--help")).toContain("Usage: vendor-verification COMMAND");
  expect(await command("verify", "--entity", "ent_1")).toMatch(/^PASS/);
  expect(server.calls.at(-1)).toMatchObject({
    ...{ method: "POST", url: "/v1/verify" },
    headers: { "user-agent": expect.stringMatching(/^vendor-verification-cli\//) },
  });
  write("vendors.csv", "Vendor Name;UEI\nAcme;SANDBXACTVE1\n");
  expect(await command("verify", "vendors.csv", "--out", "results.csv")).toBe(
    "1 rows: 1 pay, 0 hold, 0 review. Results: results.csv\n",
  );
});
