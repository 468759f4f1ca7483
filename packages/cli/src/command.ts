import { parseArgs } from "node:util";
import type { Client, ClientOptions } from "@vendor-verification/client";
import type { Environment, Settings } from "./config.ts";
import { type ExitCode, UsageError } from "./exit-codes.ts";
import type { Output } from "./output.ts";

/** What a command works with. */
export interface Context {
  readonly env: Environment;
  readonly stdin: NodeJS.ReadStream;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Returns the stored settings. Errors: UsageError if the user is not signed in. */
  settings(): Settings;
  /** Returns a client with the stored settings. Errors: UsageError if the user is not signed in. */
  client(options?: Pick<ClientOptions, "onResponse">): Client;
}

/** An option of a command. */
export interface Option {
  readonly type: "string" | "boolean";
  /** Placeholder of its value in the help. */
  readonly value?: string;
  readonly does: string;
}

export interface Command {
  /** Words that select it, such as `monitors list`. */
  readonly name: string;
  readonly summary: string;
  /** Arguments that are not options, as in the help; each is required. */
  readonly operands?: readonly string[];
  readonly optionalOperand?: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** More about the command: what it does, what it prints, examples. */
  readonly help: string;
  run(context: Context, args: Arguments): Promise<ExitCode>;
}

/** The parsed arguments of a command. */
export interface Arguments {
  readonly operands: readonly string[];
  /** Returns the value of an option; undefined if it is absent. */
  text(option: string): string | undefined;
  /** Returns the value of an option. Errors: UsageError if it is absent. */
  required(option: string): string;
  flag(option: string): boolean;
}

/** Options of every command. */
const COMMON: Readonly<Record<string, Option>> = {
  json: { type: "boolean", does: "Print JSON: one value, or one value per line for lists and streams." },
  help: { type: "boolean", does: "Print this help." },
};

/** Finds the command that the arguments begin with. */
export function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
}

/** Parses the arguments after a command's name. Errors: UsageError. */
export function parseArguments(command: Command, args: readonly string[]): Arguments {
  const { operands = [], optionalOperand } = command;
  const hint = `See vendor-verification ${command.name} --help.`;
  const parsed = parse(command, args, hint);
  if (parsed.positionals.length < operands.length && parsed.values.help !== true) {
    throw new UsageError(`${operands[parsed.positionals.length]} is missing. ${hint}`);
  }
  const most = operands.length + (optionalOperand ? 1 : 0);
  if (parsed.positionals.length > most) throw new UsageError(`"${parsed.positionals[most]}" is too much. ${hint}`);
  const text = (option: string) => {
    const value = parsed.values[option];
    return typeof value === "string" ? value : undefined;
  };
  return {
    operands: parsed.positionals,
    text,
    required(option) {
      const value = text(option);
      if (value === undefined) throw new UsageError(`--${option} is missing. ${hint}`);
      return value;
    },
    flag: (option) => parsed.values[option] === true,
  };
}

function parse({ options }: Command, args: readonly string[], hint: string) {
  const types = Object.entries({ ...options, ...COMMON }).map(([name, { type }]) => [name, { type }]);
  try {
    const parsed = parseArgs({ args: [...args], options: Object.fromEntries(types), allowPositionals: true });
    return { positionals: parsed.positionals, values: parsed.values as Record<string, unknown> };
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(". ")[0]}. ${hint}`, { cause: error });
  }
}

/** Returns the help of a command. */
export function helpOf({ name, summary, operands = [], optionalOperand, options = {}, help }: Command): string {
  const described = Object.entries({ ...options, ...COMMON }).map(
    ([option, { value, does }]) => [`--${option}${value ? ` ${value}` : ""}`, does] as const,
  );
  const words = [name, ...operands, ...(optionalOperand ? [`[${optionalOperand}]`] : []), "[options]"];
  return [
    summary,
    "",
    `Usage: vendor-verification ${words.join(" ")}`,
    "",
    ...inColumns(described),
    "",
    help.trim(),
  ].join("\n");
}

/** Returns pairs as two aligned columns, indented. */
export function inColumns(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

/** Reads a whole number between two limits. Errors: UsageError. */
export function wholeNumber(text: string, option: string, from: number, to: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= from && number <= to) return number;
  throw new UsageError(`--${option} must be a whole number from ${from} to ${to}.`);
}

/** Reads one of some words. Errors: UsageError. */
export function oneOf<T extends string>(text: string, option: string, words: readonly T[]): T {
  const word = words.find((candidate) => candidate === text);
  if (word) return word;
  throw new UsageError(`--${option} must be ${words.join(" or ")}.`);
}
