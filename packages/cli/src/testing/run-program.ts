import { Readable } from "node:stream";
import { runCli } from "../cli.ts";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program in this process, without a terminal. `onPrint` sees all that it has printed so far. */
export async function runProgram(
  args: readonly string[],
  options: {
    env?: Readonly<Record<string, string>>;
    stdin?: string;
    signal?: AbortSignal;
    onPrint?: (stdout: string) => void;
  } = {},
): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof printed) => ({
    write(text: string) {
      printed[name] += text;
      options.onPrint?.(printed.stdout);
    },
  });
  const code = await runCli(args, {
    env: { HOME: "/nowhere", ...options.env },
    stdin: Readable.from([options.stdin ?? ""]) as NodeJS.ReadStream,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, ...printed };
}
