import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const SCRIPT = `
const [what, ...rest] = process.argv.slice(2);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => { console.log(signal); process.exit(9); });
console.log(JSON.stringify({ rest, path: process.env.PATH.split(":")[0], cache: process.env.NODE_COMPILE_CACHE }));
if (what === "exit") process.exit(Number(rest[0]));
if (what === "die") process.kill(process.pid, "SIGKILL");
setInterval(() => {}, 1000);
`;

// Replaces the package manager: records the call and creates the runtime's link as an install would.
const NPX = `#!/bin/sh
echo "$@" >> installs
[ -e broken ] && { echo "ERR_PNPM_OUTDATED_LOCKFILE  the lock is old"; exit 1; }
mkdir -p node_modules/.bin && ln -sf '${process.execPath}' node_modules/.bin/node
`;

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "bootstrap-"));
  await mkdir(join(root, "deploy"));
  await mkdir(join(root, "bin"));
  await mkdir(join(root, "packages", "a"), { recursive: true });
  await copyFile(join(import.meta.dirname, "bootstrap.mjs"), join(root, "deploy", "bootstrap.mjs"));
  await writeFile(join(root, "script.ts"), SCRIPT);
  await writeFile(join(root, "pnpm-workspace.yaml"), "packages:\n  - deploy\n  - packages/*\n\ncatalog:\n  a: 1\n");
  await writeFile(join(root, "pnpm-lock.yaml"), "");
  for (const folder of [".", "packages/a"]) await writeFile(join(root, folder, "package.json"), "{}");
  await writeFile(join(root, "bin", "npx"), NPX);
  await chmod(join(root, "bin", "npx"), 0o755);
});

afterEach(() => rm(root, { recursive: true, force: true }));

function start(...args: string[]) {
  return spawn(process.execPath, [join(root, "deploy", "bootstrap.mjs"), "script.ts", ...args], {
    env: { ...process.env, PATH: `${join(root, "bin")}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function ended(child: ChildProcess) {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("no output to read");
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, "exit")]);
  return { out, err, code };
}

async function installs(): Promise<string[]> {
  return (await readFile(join(root, "installs"), "utf8")).trim().split("\n");
}

test("the script gets its arguments, finds the project's programs first on PATH, and determines the exit code", async () => {
  const { out, code } = await ended(start("exit", "7", "a 'b'"));
  expect(code).toBe(7);
  expect(JSON.parse(out)).toEqual({
    rest: ["7", "a 'b'"],
    path: join(root, "node_modules", ".bin"),
    cache: join(root, ".cache", "compile"),
  });
  expect((await ended(start("die"))).code).toBe(137);
});

test("dependencies are installed once, and again after a manifest changed", async () => {
  await ended(start("exit", "0"));
  await ended(start("exit", "0"));
  expect(await installs()).toHaveLength(1);
  await writeFile(join(root, "packages", "a", "package.json"), '{"name":"a"}');
  await ended(start("exit", "0"));
  expect(await installs()).toHaveLength(2);
});

test("two first commands that start at the same time install once", async () => {
  const results = await Promise.all([ended(start("exit", "1")), ended(start("exit", "2"))]);
  expect(results.map(({ code }) => code)).toEqual([1, 2]);
  expect(await installs()).toHaveLength(1);
});

test("the lock of a killed install is taken over", async () => {
  const dead = spawn("true");
  await once(dead, "exit");
  await mkdir(join(root, ".cache"));
  await writeFile(join(root, ".cache", "install.lock"), String(dead.pid));
  expect((await ended(start("exit", "3"))).code).toBe(3);
});

test("a failed install is reported in one sentence with its cause and log, and is tried again by the next command", async () => {
  await writeFile(join(root, "broken"), "");
  const { err, out, code } = await ended(start("exit", "0"));
  expect(code).toBe(1);
  expect(out).toBe("");
  expect(err.trim().split("\n").at(-1)).toMatch(
    /^Dependencies could not be installed \(pnpm-lock.yaml lacks a dependency .*log\.$/,
  );
  await rm(join(root, "broken"));
  expect((await ended(start("exit", "0"))).code).toBe(0);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s reaches the script, and the command waits for it to end",
  async (signal) => {
    const child = start("wait");
    const result = ended(child);
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await result).toMatchObject({ code: 9, out: expect.stringContaining(signal) });
  },
);
