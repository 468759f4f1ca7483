import { spawn } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Written to the command's input. */
  readonly input?: string;
  /** Ends the command when aborted. */
  readonly signal?: AbortSignal;
  /** Called with each piece of output. */
  readonly onOutput?: (text: string) => void;
}

/** Runs a command to its end and returns its standard output. Errors: the command failed; with the end of its output. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, signal: options.signal });
    let stdout = "";
    let all = "";
    const take = (text: string) => {
      all = (all + text).slice(-8_000);
      options.onOutput?.(text);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      take(text);
    });
    child.stderr.setEncoding("utf8").on("data", take);
    child.stdin.on("error", () => undefined).end(options.input ?? "");
    child.once("error", (cause) => reject(new Error(`${command} could not be run`, { cause })));
    child.once("close", (code, signal) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${[command, ...args].join(" ").slice(0, 200)} ended with ${signal ?? code}:\n${all}`));
    });
  });
}
