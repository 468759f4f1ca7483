import { createClient } from "@vendor-verification/client";
import { CommanderError } from "commander";
import { createProgram } from "./command.ts";
import { commands } from "./commands/index.ts";
import { type Environment, loadSettings } from "./config.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-codes.ts";
import { createOutput, type Sink } from "./output.ts";
import { VERSION } from "./version.ts";

/** What the program works with. */
export interface Surroundings {
  readonly env: Environment;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Runs the program and returns its exit code. Never throws. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { env, stdin, stdout, stderr, signal } = surroundings;
  const output = createOutput({ stdout, stderr, json: args.includes("--json") });
  const settings = () => loadSettings(env);
  const client = () => createClient({ ...settings(), userAgent: `vendor-verification-cli/${VERSION}` });
  let code: ExitCode = exitCodes.ok;
  const program = createProgram(commands, {
    stdout,
    async run(command, parsed) {
      code = await command.run({ env, stdin, output, signal, settings, client }, parsed);
    },
  }).addHelpText("after", MORE);
  try {
    await program.parseAsync(args.length > 0 ? args : ["--help"], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodes.ok;
    if (signal.aborted) return exitCodes.interrupted;
    output.error(error);
    return exitCodeOf(error);
  }
}

const MORE = `
vendor-verification COMMAND --help describes a command.
VENDOR_VERIFICATION_BASE_URL and VENDOR_VERIFICATION_API_KEY override what \`login\` stored.

Exit codes:
  0    Done; the verification passed, the look-up found one entity.
  1    The verification failed, the look-up found none or several, or the receipt proves nothing.
  2    The command line or the input file can't be used.
  3    The service refused the call: the key, a right, an unknown id, a conflict.
  4    The service is unavailable or limits the key. Try again later.
  5    A check has no verdict, or a row of the file needs a review.
  70   A fault of this program.
  130  Ended by Ctrl-C before it was done.`;
