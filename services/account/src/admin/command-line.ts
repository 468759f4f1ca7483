import { parseArgs } from "node:util";
import type { AccountDomain } from "../domain.ts";
import { commands, type Flag, flags, UsageError } from "./commands.ts";

type Values = Partial<Record<Flag, string | boolean>>;

export interface CommandLine {
  readonly command: string;
  readonly id: string;
  readonly values: Values;
  readonly json: boolean;
}

/** Returns the text of --help. */
export function usage(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, does }]) => `  ${`${name} ${usage}`.trim()}\n      ${does}`,
  );
  return [
    "Usage: npm run admin -- COMMAND [--json]",
    "",
    ...lines,
    "",
    "--json prints one JSON object. Every change is in the audit log, with `operator` as the actor.",
    "Needs MONGODB_URI, MONGODB_DATABASE_PREFIX, API_KEY_PEPPERS and WEBHOOK_SECRET_KEYS, or a local run in this folder.",
  ].join("\n");
}

/** Returns the command of a command line. Errors: UsageError. */
export function parseCommandLine(args: readonly string[]): CommandLine | "help" {
  const { values, positionals } = parsed(args);
  if (values.help || positionals.length === 0) return "help";
  const name = positionals.slice(0, 2).join(" ");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}".\n\n${usage()}`);
  const [id = "", ...more] = positionals.slice(2);
  const allowed = new Set(["json", ...[...command.usage.matchAll(/--([a-z-]+)/g)].map((match) => match[1])]);
  const foreign = Object.keys(values).find((flag) => !allowed.has(flag));
  const shape = `Usage: npm run admin -- ${name} ${command.usage}`.trim();
  if (foreign) throw new UsageError(`"${name}" does not take --${foreign}. ${shape}`);
  const takesId = /^[A-Z]+_ID\b/.test(command.usage);
  if (more.length > 0 || takesId !== (id !== "")) throw new UsageError(shape);
  return { command: name, id, values, json: values.json === true };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(". ")[0]}. See npm run admin -- --help`, { cause: error });
  }
}

/** Runs a command. Errors: UsageError, ServiceError. */
export function runCommand(
  domain: AccountDomain,
  { command, id, values }: CommandLine,
  readPassword: () => Promise<string>,
): Promise<object> {
  const optional = (flag: Flag) => (typeof values[flag] === "string" ? values[flag] : undefined);
  const { usage, run } = commands[command]!;
  const required = (flag: Flag) => {
    const value = optional(flag);
    if (!value) throw new UsageError(`--${flag} is missing. Usage: npm run admin -- ${command} ${usage}`);
    return value;
  };
  const pipedPassword = async () => (values["password-stdin"] ? readPassword() : undefined);
  return run({ domain, required, optional, id, pipedPassword });
}
