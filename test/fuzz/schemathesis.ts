import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "../../deploy/local/processes.ts";
import { type Cache, ensureFetched, fetchFromPyPi } from "../../deploy/local/servers/downloads.ts";
import { exactDocument, openApiText } from "../../services/gateway/src/openapi/document.ts";

/** The exact OpenAPI document, in the current folder of schemathesis. */
const DOCUMENT = "openapi.json";
const requirements = join(import.meta.dirname, "requirements.txt");

/** The client's address, since failed authentications are limited by address and other tests run meanwhile. */
const ADDRESS = "198.51.100.66";

/** What a run of schemathesis found: nothing if `code` is 0. */
export interface FuzzResult {
  readonly code: number | null;
  /** The report for people: each deviation with a curl command that shows it. */
  readonly report: string;
}

/**
 * Sends requests that schemathesis makes from the exact OpenAPI document, valid and invalid ones, one by one and in sequences,
 * and compares each answer with the document.
 */
export async function fuzz(options: {
  readonly baseUrl: string;
  readonly key: string;
  readonly seconds: number;
  readonly cache: Cache;
}): Promise<FuzzResult> {
  const { baseUrl, key, seconds, cache } = options;
  const libraries = await ensureFetched(
    {
      folder: "schemathesis-4.32.5",
      title: "schemathesis",
      sizeMb: 70,
      needs: [],
      fetch: (folder) => fetchFromPyPi(["--no-deps", "-r", requirements], folder),
    },
    cache,
  );
  // A canceled monitor can still be read: its history stays. Calls without a key are more than an address may fail to
  // authenticate in a minute; that each needs one is tested with the gateway. "all" would turn the checks on against the configuration.
  const checks = ["--checks", "all", "--exclude-checks", "use_after_free,ignored_auth"];
  const choice = [...checks, "--mode", "all", "--phases", "examples,coverage,fuzzing,stateful"];
  const load = ["--max-time", String(seconds), "--request-timeout", "30", "--suppress-health-check", "all"];
  const output = ["--continue-on-failure", "--no-color", "--generation-database", "none"];
  const headers = ["-H", `Authorization: Bearer ${key}`, "-H", `X-Forwarded-For: ${ADDRESS}`];
  const target = ["--url", baseUrl, ...headers, DOCUMENT];
  const config = ["--config-file", join(import.meta.dirname, "schemathesis.toml")];
  const document = openApiText(exactDocument("fuzzed", baseUrl));
  const hooks = { SCHEMATHESIS_HOOKS: join(import.meta.dirname, "hooks.py") };
  const environment = { PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1", ...hooks };
  return run(
    ["python3", "-m", "schemathesis.cli", ...config, "run", ...choice, ...load, ...output, ...target],
    environment,
    document,
  );
}

async function run(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  document?: string,
): Promise<FuzzResult> {
  // schemathesis keeps what it found in the current folder.
  const cwd = await mkdtemp(join(tmpdir(), "fuzz-"));
  if (document !== undefined) await writeFile(join(cwd, DOCUMENT), document);
  const { code, output } = await outputOf(command, { cwd, env });
  await rm(cwd, { recursive: true });
  return { code, report: output };
}
