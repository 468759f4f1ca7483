import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { eventually, temporaryFolder } from "@vvs/testing";
import { outputOf, runProcess } from "../../deploy/local/processes.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { pythonTools } from "../../packages/client-python/tools.ts";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { playServer } from "../outside/played-server.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { pageBlocks } from "../support/reference-page.ts";
import { monitorChanging } from "../support/watching-organization.ts";

// The samples and programs of the reference page in TypeScript, Python and Go: their types fit, and they work with the product.

const { baseUrl } = sharedProduct();
const blocks = await pageBlocks();
const code = (id: string) => `${blocks.get(id)!.code}\n`;
const folder = temporaryFolder();
const cacheDir = serverCacheDir(process.env);
const TIMEOUT_MS = 240_000;

/** Returns the calls of all operations in a language, in an order in which they work. */
const callsIn = (language: string) =>
  operations
    .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"))
    .map(({ docs }) => code(`${docs.operationId}-${language}`));

type Command = readonly [string, ...string[]];

function start([command, ...args]: Command, env: NodeJS.ProcessEnv, cwd: string) {
  const lines: string[] = [];
  const onLine = (line: string) => lines.push(line);
  const running = runProcess({ name: command, command, args, cwd, env: { ...process.env, ...env }, onLine });
  return { ...running, output: () => lines.join("\n") };
}

/** Runs a command to its end. Errors: it failed, with its output. */
async function run(command: Command, env: NodeJS.ProcessEnv): Promise<void> {
  const { code: exitCode, output } = await outputOf(command, { cwd: folder, env });
  expect([exitCode, exitCode === 0 ? "" : output]).toEqual([0, ""]);
}

/** How the programs of a language are written, checked and run. */
interface Language {
  readonly name: string;
  readonly missing?: string | undefined;
  /** All calls of the page in one program. */
  readonly samples: string;
  readonly extension: string;
  readonly receiver?: string;
  readonly check: (file: string) => Command;
  readonly run: (file: string) => Command;
  readonly env: NodeJS.ProcessEnv;
}

const tools = await pythonTools({ cacheDir, log: (line) => void process.stderr.write(`${line}\n`) });
const goProgram = code("start-go").trimEnd();
const client = join(projectRoot, "packages/client/src/index.ts");
const tsc = join(projectRoot, "node_modules/.bin/tsc");
const typeRoots = join(projectRoot, "node_modules/@types");

const languages: readonly Language[] = [
  {
    name: "TypeScript",
    samples: [code("start-typescript"), ...callsIn("typescript").map((call) => `{\n${call}}`)].join("\n"),
    extension: "mjs",
    check: (file) => [
      ...([tsc, "--noEmit", "--strict", "--noImplicitAny", "false", "--allowJs", "--checkJs"] as const),
      ...["--allowImportingTsExtensions", "--module", "nodenext", "--target", "es2024"],
      ...["--types", "node", "--typeRoots", typeRoots, file],
    ],
    run: (file) => [process.execPath, file],
    env: {},
  },
  {
    name: "Python",
    missing: "missing" in tools ? tools.missing : undefined,
    samples: [code("start-python"), ...callsIn("python")].join("\n"),
    extension: "py",
    receiver: "webhook-receiver-python",
    check: (file) => ["python3", "-m", "mypy", "--strict", "--cache-dir", join(folder, "mypy"), file],
    run: (file) => ["python3", file],
    env: {
      PYTHONPATH: [join(projectRoot, "packages/client-python/src"), ...("folder" in tools ? [tools.folder] : [])].join(
        ":",
      ),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  },
  {
    name: "Go",
    missing: (await outputOf(["go", "version"])).code === 0 ? undefined : "go is not installed",
    samples: `${goProgram.replace(/}$/, "")}${callsIn("go")
      .map((call) => `\t{\n${call}\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(string(answer))\n\t}\n`)
      .join("")}}\n`,
    extension: "go",
    receiver: "webhook-receiver-go",
    check: (file) => ["go", "vet", file],
    run: (file) => ["go", "run", file],
    env: { GOCACHE: join(cacheDir, "guide-go-build"), GOTOOLCHAIN: "local", GO111MODULE: "off" },
  },
];

/** Answers as the product does, but says once that the cursor `old` has expired. */
const withExpired = await playServer(async ({ url, headers: { authorization = "" } }, response) => {
  const answer = await fetch(`${baseUrl}${url}`, { headers: { authorization } });
  const isOld = new URL(url, baseUrl).searchParams.get("after") === "old";
  const body = isOld ? JSON.stringify({ error: "cursor_expired", message: "m" }) : await answer.text();
  response.writeHead(isOld ? 400 : answer.status, { "content-type": "application/json" }).end(body);
});

/** Writes a program into a folder of its own. */
function write(language: Language, name: string, text: string): string {
  const place = mkdtempSync(join(folder, "program-"));
  const file = join(place, `${name}.${language.extension}`);
  writeFileSync(file, text.replace('"@vendor-verification/client"', JSON.stringify(client)));
  return file;
}

for (const language of languages) {
  if (language.missing) test.skip(`the page's ${language.name}: skipped, ${language.missing}`, () => undefined);
  else describe(`the page's ${language.name}`, () => proves(language));
}

function proves(language: Language): void {
  const environment = (key: string, url = baseUrl) => ({
    ...language.env,
    VENDOR_VERIFICATION_BASE_URL: url,
    VENDOR_VERIFICATION_API_KEY: key,
  });

  test(
    "has a call of every operation; their types fit, and they run as they stand",
    async () => {
      const file = write(language, "samples", language.samples);
      await run(language.check(file), language.env);
      const { keys } = await createOrganization();
      await run(language.run(file), environment(keys.sandbox));
    },
    TIMEOUT_MS,
  );

  test(
    "keeps a copy of all events: in order, each once, after a restart and after its cursor has expired",
    async () => {
      const file = write(language, "keep_events", code(`keep-events-${language.name.toLowerCase()}`));
      await run(language.check(file), language.env);
      const { sandbox, keys } = await createOrganization();
      await monitorChanging(sandbox);
      const place = join(file, "../copy");
      mkdirSync(place);
      const ids = () =>
        existsSync(join(place, "events.jsonl"))
          ? readFileSync(join(place, "events.jsonl"), "utf8")
              .trim()
              .split("\n")
              .filter(Boolean)
              .map((line) => JSON.parse(line).id)
          : [];
      const keep = async (until: () => boolean) => {
        const running = start(language.run(file), environment(keys.sandbox, withExpired.url), place);
        try {
          await eventually(until, { timeoutMs: 90_000 });
        } finally {
          await running.stop();
        }
        return running.output();
      };
      await keep(() => ids().length >= 1);
      const before = ids().length;
      writeFileSync(join(place, "cursor"), "old");
      expect(await keep(() => ids().length > before)).toContain("Events were deleted");
      const { events } = (await sandbox.get("/v1/events?after=start")).body;
      expect(ids()).toEqual(events.slice(0, ids().length).map(({ id }: { id: string }) => id));
    },
    TIMEOUT_MS,
  );

  if (language.receiver) {
    test(
      "types of the receiver of webhooks fit",
      () => run(language.check(write(language, "receiver", code(language.receiver!))), language.env),
      TIMEOUT_MS,
    );
  }
}
