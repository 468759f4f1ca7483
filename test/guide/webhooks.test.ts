import { mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@jest/globals";
import { eventually, listening, temporaryFolder } from "@vvs/testing";
import { runProcess } from "../../deploy/local/processes.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { type Case, guideCases } from "./cases.ts";
import { answersOf, type Language, languages, whyMissing } from "./languages.ts";
import { blocksOf, isCode, namedSnippets } from "./snippets.ts";

/** What the guide's `server.mjs` exports. */
interface WholeReceiver {
  receiver(options: { secret: string; keep: (id: string, event: unknown) => Promise<void> }): Server;
}

const guide = await readFile(join(projectRoot, "docs/webhooks.md"), "utf8");
const snippets = namedSnippets(guide);
/** The snippets that are a whole receiver. */
const wholeReceiver = ["receiver.mjs", "server.mjs", "main.mjs"];
const folder = temporaryFolder();
const log = (line: string) => void process.stderr.write(`${line}\n`);
const cacheDir = serverCacheDir(process.env);
// Compiling and starting JVMs can take minutes the first time on a busy machine.
const TIMEOUT_MS = 300_000;

for (const language of languages) {
  const missing = await whyMissing(language, { cacheDir, log });
  const title = `the guide's ${language.name} snippet accepts what we signed, with both schemes and during a rotation, and nothing else`;
  if (missing) test.skip(`${title}: skipped, ${missing}`, () => undefined);
  else test(title, () => provesGenuine(language), TIMEOUT_MS);
}

async function provesGenuine(language: Language): Promise<void> {
  const own = await mkdtemp(join(folder, "language-"));
  const makeCases = () => guideCases(new Date());
  const codeOf = (snippet: string) => snippets.get(snippet)!;
  const { cases, answers } = await answersOf(language, codeOf, makeCases, { folder: own, cacheDir, log });
  const byName = (answer: (signed: Case, index: number) => boolean | undefined) =>
    Object.fromEntries(cases.map((signed, index) => [signed.name, answer(signed, index)]));
  expect(byName((_, index) => answers[index])).toEqual(byName(({ genuine }) => genuine));
}

test("every snippet of the guide is run, and needs one library at most", () => {
  const code = blocksOf(guide).filter(isCode);
  const run = new Set([...languages.flatMap((language) => language.snippets), ...wholeReceiver]);
  expect(code.map(({ name }) => name).toSorted()).toEqual([...run].toSorted());
  for (const { name, code: text } of code) {
    const libraries = ["standard-?webhooks", "stripe"].filter((library) => new RegExp(library, "i").test(text));
    expect([name, libraries.slice(1)]).toEqual([name, []]);
  }
});

/** Writes the complete receiver into a folder of its own. */
async function writeReceiver(): Promise<string> {
  const own = await mkdtemp(join(folder, "server-"));
  await symlink(join(projectRoot, "test/node_modules"), join(own, "node_modules"));
  for (const name of wholeReceiver) await writeFile(join(own, name), snippets.get(name)!);
  return own;
}

test("the guide's complete receiver stores what is genuine, refuses the rest, and asks for a retry if it can't store it", async () => {
  const own = await writeReceiver();
  const { receiver } = (await import(pathToFileURL(join(own, "server.mjs")).href)) as WholeReceiver;
  const genuine = guideCases(new Date()).filter(({ scheme }) => scheme === "standard")[0]!;
  const kept: string[] = [];
  let storeIsDown = false;
  const keep = async (id: string) => {
    if (storeIsDown) throw new Error("the store is down");
    kept.push(id);
  };
  const url = `http://127.0.0.1:${await listening(receiver({ secret: genuine.secret, keep }))}`;
  const post = (body: string) => fetch(url, { method: "POST", headers: { ...genuine.headers }, body });
  expect((await post(genuine.body)).status).toBe(204);
  expect((await post(`${genuine.body} `)).status).toBe(400);
  storeIsDown = true;
  const refused = await post(genuine.body);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(kept).toEqual([genuine.headers["webhook-id"]]);
});

test("the guide's program receives webhooks, prints them and refuses others", async () => {
  const genuine = guideCases(new Date()).filter(({ scheme }) => scheme === "standard")[0]!;
  const env = { ...process.env, WEBHOOK_SECRET: genuine.secret, PORT: "0" };
  const lines: string[] = [];
  const onLine = (line: string) => void lines.push(line);
  const cwd = await writeReceiver();
  const program = runProcess({ name: "receiver", command: process.execPath, args: ["main.mjs"], cwd, env, onLine });
  try {
    const [, port] = await eventually(() => /Listening on port (\d+)\./.exec(lines[0] ?? "") ?? undefined);
    const post = (body: string) =>
      fetch(`http://127.0.0.1:${port}`, { method: "POST", headers: { ...genuine.headers }, body });
    expect([(await post(`${genuine.body} `)).status, (await post(genuine.body)).status]).toEqual([400, 204]);
    await eventually(() => lines.some((line) => line.startsWith(genuine.headers["webhook-id"]!)));
  } finally {
    await program.stop();
  }
});
