import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { PIP } from "../../deploy/local/servers/downloads.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { pythonOf, pythonTools, pythonVersions } from "../../packages/client-python/tools.ts";
import { namedSnippets } from "../guide/snippets.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { startSubscriber } from "../support/subscriber.ts";

type Run = NonNullable<Awaited<ReturnType<typeof pythonOf>>>;

const cache = { cacheDir: serverCacheDir(process.env), log: (line: string) => void process.stderr.write(`${line}\n`) };
const folder = temporaryFolder();
const installed = join(folder, "installed");
const title = (version: string) =>
  `on Python ${version} the installed client keeps its rules and works with the product`;
const TIMEOUT_MS = 180_000;

const tools = await pythonTools(cache);
if ("missing" in tools) test.skip(`the Python client: skipped, ${tools.missing}`, () => undefined);
else {
  await install(tools.run);
  for (const version of pythonVersions) {
    const python = await pythonOf(version, cache);
    if (python) test.concurrent(title(version), () => works(python), TIMEOUT_MS);
    else test.skip(`${title(version)}: skipped, python${version} is not installed`, () => undefined);
  }
  test("the snippets of the README run as they stand, and their types fit", () => showsTheTruth(tools.run), TIMEOUT_MS);
}

/** Runs Python to its end and returns what it printed. Throws that if it fails. */
async function output(run: Run, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const ended = await run(args, { PYTHONPATH: installed, ...env });
  if (ended.code !== 0) throw new Error(`python ${args.join(" ")}: ${ended.output}`);
  return ended.output;
}

/** Builds the wheel, as `pip install FOLDER` does, and installs it without its dependencies. */
async function install(run: Run): Promise<void> {
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"];
  const target = ["--no-build-isolation", "--target", installed, join(projectRoot, "packages/client-python")];
  await output(run, [...PIP, "install", ...quiet, ...target]);
}

async function works(python: Run): Promise<void> {
  const OPENAPI_DOCUMENT = join(projectRoot, "docs/openapi.json");
  expect(await output(python, ["-m", "unittest"], { OPENAPI_DOCUMENT })).toMatch(/^OK$/m);

  const { keys, webhookSecrets } = await createOrganization();
  const subscriber = await startSubscriber();
  const env = {
    VENDOR_VERIFICATION_BASE_URL: sharedProduct().baseUrl,
    VENDOR_VERIFICATION_API_KEY: keys.sandbox,
    WEBHOOK_URL: subscriber.url,
  };
  try {
    const monitor = await output(python, ["-m", "tests.product"], env);
    const { body, headers } = await subscriber.waitForPost((post) => JSON.parse(post.body).monitor_id === monitor);
    const RECEIVED = JSON.stringify({ body, headers, secret: webhookSecrets.sandbox });
    expect(await output(python, ["-m", "tests.product", "webhook"], { ...env, RECEIVED })).toBe(headers["webhook-id"]);
  } finally {
    subscriber.close();
  }
}

async function showsTheTruth(python: Run): Promise<void> {
  const snippets = namedSnippets(readFileSync(join(projectRoot, "packages/client-python/README.md"), "utf8"));
  for (const [name, code] of snippets) writeFileSync(join(folder, name), code);
  const { keys } = await createOrganization();
  const env = { VENDOR_VERIFICATION_BASE_URL: sharedProduct().baseUrl, VENDOR_VERIFICATION_API_KEY: keys.sandbox };
  const run = (name: string) => output(python, [join(folder, name)], env);
  expect(await run("verify.py")).toBe("pass");
  expect(await run("lists.py")).toMatch(/^1 None\nver_\w+ pass$/);
  expect(await run("follow.py")).toMatch(/^evt_\w+ \[[\s\S]*store \S+$/);
  expect(await run("receipts.py")).toMatch(/^sandbox pass [0-9a-f]{64}\nThe receipt was altered/);
  const files = [...snippets.keys()].map((name) => join(folder, name));
  expect(await output(python, ["-m", "mypy", "--strict", "--cache-dir", join(folder, "mypy"), ...files])).toContain(
    "no issues",
  );
}
