import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf } from "../deploy/local/processes.ts";
import { serverCacheDir } from "../deploy/local/servers/index.ts";
import { pythonTools, writeModels } from "../packages/client-python/tools.ts";
import { oversizeProblems } from "./folders.ts";
import { importProblems } from "./import-order.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const proto = join(root, "proto");
const openApiFile = join("docs", "openapi.json");

interface Check {
  readonly name: string;
  /** Returns what is wrong, or undefined. */
  readonly run: () => Promise<string | undefined>;
}

/** All checks that do not run the product. */
const checks: readonly Check[] = [
  {
    name: "formatting and lint (biome)",
    run: () => command("biome", ["ci", "--colors=off", "--error-on-warnings", "."], root),
  },
  { name: "types (tsc)", run: () => command("tsc", ["-p", "tsconfig.json"], root) },
  { name: "no unused files, exports and dependencies (knip)", run: () => command("knip", ["--no-config-hints"], root) },
  {
    name: "no test code in the image (knip)",
    run: () => command("knip", ["--production", "--include", "files", "--no-config-hints"], root),
  },
  { name: "no folder and no file is too large", run: async () => oversizeProblems(root) },
  { name: "imports point one way", run: async () => importProblems(root) },
  { name: "contracts are well-formed (buf lint)", run: () => command("buf", ["lint"], proto) },
  {
    name: "contracts do not break released ones (buf breaking)",
    run: () => command("buf", ["breaking", "--against", "published.binpb"], proto),
  },
  { name: "generated code matches the contracts", run: generatedCodeDrift },
  { name: "the OpenAPI document matches the routes", run: openApiDrift },
  { name: "the client's types match the OpenAPI document", run: clientTypesDrift },
  { name: "the Python client's models match the OpenAPI document, and its types fit (mypy)", run: pythonClient },
  { name: "the OpenAPI document is well-formed (redocly)", run: () => command("redocly", ["lint", openApiFile], root) },
];

/** Runs all checks at the same time, prints the result of each, and returns how many passed and failed. */
export async function runChecks(): Promise<{ passed: number; failed: number }> {
  const tally = { passed: 0, failed: 0 };
  const startedAt = Date.now();
  const running = checks.map(async ({ name, run }) => {
    const problem = await run();
    return { name, problem, seconds: ((Date.now() - startedAt) / 1000).toFixed(1) };
  });
  for (const { name, problem, seconds } of await Promise.all(running)) {
    tally[problem === undefined ? "passed" : "failed"]++;
    console.log(`${problem === undefined ? "PASS" : "FAIL"} ${name} (${seconds} s)`);
    if (problem !== undefined) console.log(problem.trimEnd().replaceAll(/^/gm, "  "));
  }
  return tally;
}

async function generatedCodeDrift(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-proto-"));
  try {
    cpSync(proto, folder, { recursive: true, filter: (path) => !/node_modules|\/gen$/.test(path) });
    const failed = await command("buf", ["generate"], folder);
    if (failed !== undefined) return failed;
    const difference = await command("diff", ["-r", join(folder, "gen"), join(proto, "gen")], root);
    return difference === undefined ? undefined : `Run npm run generate and commit the result.\n${difference}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openApiDrift(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-openapi-"));
  try {
    const failed = await command("node", ["services/gateway/src/openapi/cli.ts", folder], root);
    if (failed !== undefined) return failed;
    for (const name of ["openapi.json", "postman.json"]) {
      const difference = await command("diff", [join("docs", name), join(folder, name)], root);
      if (difference !== undefined) return `Run npm run openapi and commit the result.\n${difference}`;
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function clientTypesDrift(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "vvs-client-types-"));
  try {
    const failed = await command("node", ["packages/client/generate.ts", folder], root);
    if (failed !== undefined) return failed;
    const difference = await command("diff", ["-r", folder, "packages/client/src/generated"], root);
    return difference === undefined ? undefined : `Run npm run openapi and commit the result.\n${difference}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Without Python 3.10 or newer there is nothing to check. */
async function pythonClient(): Promise<string | undefined> {
  const tools = await pythonTools({ cacheDir: serverCacheDir(process.env), log: console.log });
  if ("missing" in tools) {
    console.log(`The Python client is not checked: ${tools.missing}.`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "vvs-python-models-"));
  try {
    const current = join(folder, "models.py");
    const failed = await writeModels(tools.run, current);
    if (failed !== undefined) return failed;
    const models = "packages/client-python/src/vendor_verification/models.py";
    const difference = await command("diff", [current, models], root);
    if (difference !== undefined) return `Run npm run openapi and commit the result.\n${difference}`;
    const { code, output } = await tools.run(["-m", "mypy", "--cache-dir", join(folder, "cache")]);
    return code === 0 ? undefined : output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command. Returns its output if it failed, else undefined. */
async function command(name: string, args: string[], cwd: string): Promise<string | undefined> {
  // Redocly would otherwise ask the registry for newer versions.
  const env = { REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { code, output } = await outputOf([name, ...args], { cwd, env });
  return code === 0 ? undefined : output || `${name} ended with exit code ${code}`;
}
