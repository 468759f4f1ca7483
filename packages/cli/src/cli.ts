import { ApiError, type ClientOptions, createClient } from "@vendor-verification/client";
import { type Command, findCommand, helpOf, inColumns, parseArguments } from "./command.ts";
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
  const print = (text: string) => void stdout.write(`${text}\n`);
  if (args[0] === "--version") {
    print(VERSION);
    return exitCodes.ok;
  }
  const command = findCommand(commands, args);
  if (!command) {
    const asked = args.length === 0 || args.includes("--help") || args[0] === "help";
    const group = commands.filter(({ name }) => name.startsWith(`${args[0]} `));
    if (asked) print(overview(group.length > 0 ? group : commands));
    else stderr.write(`There is no command "${args.join(" ")}". See vendor-verification --help.\n`);
    return asked ? exitCodes.ok : exitCodes.usage;
  }
  try {
    const parsed = parseArguments(command, args.slice(command.name.split(" ").length));
    if (parsed.flag("help")) {
      print(helpOf(command));
      return exitCodes.ok;
    }
    const settings = () => loadSettings(env);
    const client = (options?: Pick<ClientOptions, "onResponse">) =>
      createClient({ ...settings(), userAgent: `vendor-verification-cli/${VERSION}`, ...options });
    return await command.run({ env, stdin, output, signal, settings, client }, parsed);
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    output.error(inJson(error), inWords(error));
    return exitCodeOf(error);
  }
}

function overview(listed: readonly Command[]): string {
  return [
    "Usage: vendor-verification COMMAND [options]",
    "",
    ...inColumns(listed.map(({ name, summary }) => [name, summary] as const)),
    "",
    "vendor-verification COMMAND --help describes a command. --json prints JSON for scripts.",
    "VENDOR_VERIFICATION_BASE_URL and VENDOR_VERIFICATION_API_KEY override what `login` stored.",
    "",
    "Exit codes:",
    ...inColumns([
      ["0", "Done; the verification passed, the look-up found one entity."],
      ["1", "The verification failed, or the look-up found none or several."],
      ["2", "The command line or the input file can't be used."],
      ["3", "The service refused the call: the key, a right, an unknown id, a conflict."],
      ["4", "The service is unavailable or limits the key. Try again later."],
      ["5", "A check has no verdict, or rows of the file were refused."],
      ["130", "Ended by Ctrl-C before it was done."],
    ]),
  ].join("\n");
}

function inJson(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ApiError)) return { message };
  const { code, status, requestId, docUrl, details, entityId, candidates } = error;
  return {
    error: code,
    message,
    status,
    request_id: requestId,
    doc_url: docUrl,
    details: details.length > 0 ? details : undefined,
    entity_id: entityId,
    candidates: candidates.length > 0 ? candidates : undefined,
  };
}

function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof ApiError))
    return exitCodeOf(error) === exitCodes.internal ? String(error.stack) : error.message;
  // The message of a single problem is the whole problem.
  const problems = error.details.map(({ path, message }) => `${path} ${message}`);
  return [
    error.message,
    ...problems.filter((problem) => !error.message.includes(problem)).map((problem) => `  ${problem}`),
    ...error.candidates.map(({ id, legal_name }) => `  ${id}  ${legal_name}`),
    ...(error.entityId ? [`  The entity is ${error.entityId}.`] : []),
    ...(error.requestId ? [`  Request ${error.requestId}`] : []),
  ].join("\n");
}
