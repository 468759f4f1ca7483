import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** Destination of a process's output: appended to a file, or passed to a function line by line. Without either it is dropped. */
type Output = { logFile?: string; onLine?: undefined } | { onLine: (line: string) => void; logFile?: undefined };

export type ProcessOptions = Output & {
  name: string;
  command: string;
  args?: string[];
  /** The complete environment of the process; default: the caller's. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Seconds between SIGTERM and SIGKILL when this process dies without stopping its child. Default 5. */
  orphanGraceSeconds?: number;
};

export type RunningProcess = {
  name: string;
  pid: number;
  /** Settles once the process has ended and its output has been read. Never rejects. */
  exited: Promise<Exit>;
  /** SIGTERM, then SIGKILL after `graceMs` (default 10,000). Resolves when the process is gone; may be called again. */
  stop(graceMs?: number): Promise<void>;
};

/**
 * The shell starts a watcher in the same process group and then becomes the command itself (`exec`: same pid, same exit
 * code). The watcher reads a pipe that only the parent holds open. When the pipe ends, the parent has died in some way,
 * and the watcher ends the command. While the watcher lives, the group's number is not reused.
 */
const GUARD = `
exec 3<&0
(
  trap '' TERM INT HUP
  while read -r _; do :; done
  kill -TERM $$ || exit 0
  left=$(( $1 * 5 ))
  while [ $left -gt 0 ] && kill -0 $$; do sleep 0.2; left=$(( left - 1 )); done
  kill -KILL -$$
) <&3 3<&- >/dev/null 2>&1 &
shift
exec "$@" </dev/null 3<&-
`;

/**
 * Starts a command that cannot outlive this process, not even if this process is killed with `kill -9`. It runs in its
 * own process group, so that Ctrl-C in a terminal reaches only this process, which decides the order of shutdown. A
 * command that does not exist ends with code 127. Errors: nothing could be started (no shell, no such `cwd`).
 */
export function runProcess(options: ProcessOptions): RunningProcess {
  const { name, command, args = [], orphanGraceSeconds = 5, onLine, logFile } = options;
  const output = onLine ? "pipe" : logFile ? openLog(logFile) : "ignore";
  const child = spawn("/bin/sh", ["-c", GUARD, name, String(orphanGraceSeconds), command, ...args], {
    detached: true,
    stdio: ["pipe", output, output],
    env: options.env,
    cwd: options.cwd,
  });
  if (typeof output === "number") closeSync(output);
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name} could not be started`);
  if (onLine) readLines(child, onLine);
  // The rest of the group (the watcher, a leftover grandchild) ends with the command.
  child.once("exit", () => signalGroup(pid, "SIGKILL"));
  const exited = new Promise<Exit>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  return { name, pid, exited, stop: (graceMs = 10_000) => stopChild(child, exited, graceMs) };
}

/** Returns the variables of a program on Node that gets only these of its own. */
export function nodeEnvironment(own: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE, ...own };
}

/**
 * Runs a command to its end. `output` is its standard output and error by lines. `env` is added to the variables of this
 * process. A command that does not exist ends with code 127.
 */
export async function outputOf(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number | null; output: string }> {
  const lines: string[] = [];
  const onLine = (line: string) => lines.push(line);
  const { exited } = runProcess({ name: command, command, args, cwd, env: { ...process.env, ...env }, onLine });
  return { code: (await exited).code, output: lines.join("\n") };
}

function openLog(logFile: string): number {
  mkdirSync(dirname(logFile), { recursive: true });
  return openSync(logFile, "a", 0o600);
}

function readLines(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", onLine);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

async function stopChild(child: ChildProcess, exited: Promise<Exit>, graceMs: number): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await exited;
    clearTimeout(timer);
  }
  await exited;
}
