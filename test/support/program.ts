import { spawn } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "../../deploy/local/services.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly ended: Promise<Ended>;
  /** Waits until what it printed to stdout fits. */
  printed(fits: RegExp): Promise<RegExpExecArray>;
  interrupt(): void;
}

/** Starts the command line in its own process, without a terminal. */
export function startCli(
  args: readonly string[],
  options: { env: Readonly<Record<string, string>>; stdin?: string; cwd?: string },
): RunningProgram {
  const { env, stdin = "", cwd = projectRoot } = options;
  const child = spawn(process.execPath, [join(projectRoot, "packages/cli/src/main.ts"), ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
  });
  const output = { stdout: "", stderr: "" };
  let changed = Promise.withResolvers<void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      changed.resolve();
      changed = Promise.withResolvers();
    });
  }
  child.stdin.end(stdin);
  let isOver = false;
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => {
      isOver = true;
      changed.resolve();
      resolve({ code, ...output });
    });
  });
  return {
    ended,
    async printed(fits) {
      for (;;) {
        const match = fits.exec(output.stdout);
        if (match) return match;
        if (isOver) throw new Error(`the program ended without printing ${fits}: ${output.stdout}${output.stderr}`);
        await changed.promise;
      }
    },
    interrupt: () => void child.kill("SIGINT"),
  };
}
