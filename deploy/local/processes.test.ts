import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "@jest/globals";
import { runProcess } from "./processes.ts";

const IGNORES_TERM = "trap '' TERM; echo up; while :; do sleep 0.1; done";

test.each([
  ["exits without an error", "exit 0", { code: 0, signal: null }],
  ["exits with a code", "exit 7", { code: 7, signal: null }],
  ["dies of a signal", "kill -KILL $$", { code: null, signal: "SIGKILL" }],
])("a process that %s reports it", async (_, script, exit) => {
  const process = runProcess({ name: "sh", command: "sh", args: ["-c", script] });
  expect(await process.exited).toEqual(exit);
});

test("a command that does not exist ends with code 127 and an error message", async () => {
  const lines: string[] = [];
  const process = runProcess({ name: "none", command: "no-such-command", onLine: (line) => lines.push(line) });
  expect((await process.exited).code).toBe(127);
  expect(lines.join()).toContain("not found");
});

test("arguments and environment reach the command unchanged", async () => {
  const lines: string[] = [];
  const args = ["-c", 'printf "%s\\n" "$1" "$V"', "sh", "a 'b' $(c) *"];
  const env = { PATH: process.env.PATH, V: "x y" };
  await runProcess({ name: "sh", command: "sh", args, env, onLine: (line) => lines.push(line) }).exited;
  expect(lines).toEqual(["a 'b' $(c) *", "x y"]);
});

test("output is appended to the log file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "processes-"));
  const logFile = join(folder, "logs", "a.log");
  for (const word of ["one", "two"]) {
    await runProcess({ name: "sh", command: "sh", args: ["-c", `echo ${word}; echo err >&2`], logFile }).exited;
  }
  expect(await readFile(logFile, "utf8")).toBe("one\nerr\ntwo\nerr\n");
  await rm(folder, { recursive: true });
});

test("the pid is that of the command, not of its shell", async () => {
  const lines: string[] = [];
  const running = runProcess({
    name: "sh",
    command: "sh",
    args: ["-c", "echo $$"],
    onLine: (line) => lines.push(line),
  });
  await running.exited;
  expect(lines).toEqual([String(running.pid)]);
});

test("stop ends a process that ignores SIGTERM after its grace period", async () => {
  const { promise: up, resolve } = Promise.withResolvers<string>();
  const running = runProcess({ name: "sh", command: "sh", args: ["-c", IGNORES_TERM], onLine: resolve });
  await up;
  await Promise.all([running.stop(100), running.stop(100)]);
  expect(await running.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("Ctrl-C of the parent's process group does not reach the process", async () => {
  const decides = "process.on('SIGINT', () => console.log('decided'));";
  const { parent, pid, nextLine } = await startParent("sleep 1000", decides);
  process.kill(-(parent.pid ?? 0), "SIGINT");
  expect(await nextLine()).toBe("decided");
  expect(isRunning(pid)).toBe(true);
  parent.kill("SIGKILL");
  await gone(pid);
});

test.each([
  ["obeys SIGTERM", "sleep 1000"],
  ["ignores SIGTERM", IGNORES_TERM],
])("kill -9 of the parent ends a process that %s", async (_, script) => {
  const { parent, pid } = await startParent(script);
  parent.kill("SIGKILL");
  await gone(pid);
});

test("kill -9 of the parent ends the children of the process", async () => {
  const { parent, pid, nextLine } = await startParent("sleep 1000 & echo $!; wait");
  const grandchild = await nextLine();
  parent.kill("SIGKILL");
  await gone(pid);
  await gone(Number(grandchild));
});

/** Starts a Node process in its own group that runs `script` through `runProcess`. Returns it with the script's pid. */
async function startParent(script: string, more = "") {
  const code = `import { runProcess } from ${JSON.stringify(join(import.meta.dirname, "processes.ts"))}; ${more}
    const child = runProcess({ name: "sh", command: "sh", args: ["-c", ${JSON.stringify(script)}], orphanGraceSeconds: 1,
      onLine: (line) => console.log(line) });
    console.log(child.pid);`;
  const args = ["--input-type=module", "-e", code];
  const parent = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => String((await lines.next()).value);
  return { parent, nextLine, pid: Number(await nextLine()) };
}

async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Returns whether a process runs. A zombie still accepts signals but does not run. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return answers(pid) && !(existsSync(stat) && /\) Z /.test(readFileSync(stat, "utf8")));
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
