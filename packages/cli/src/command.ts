import type { Client } from "@vendor-verification/client";
import {
  type CommanderError,
  Help,
  InvalidArgumentError,
  Command as Program,
  Option as ProgramOption,
} from "commander";
import type { Environment, Settings } from "./config.ts";
import { type ExitCode, UsageError } from "./exit-codes.ts";
import type { Output, Sink } from "./output.ts";
import { VERSION } from "./version.ts";

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
  client(): Client;
}

/** An option of a command. */
export interface Option {
  /** Placeholder of its value in the help. Without one it is a flag. */
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

/** Returns the program with these commands. It ends by a CommanderError after it printed help. Errors: UsageError. */
export function createProgram(
  commands: readonly Command[],
  { stdout, run }: { stdout: Sink; run: (command: Command, args: Arguments) => Promise<void> },
): Program {
  const program = new Program("vendor-verification")
    .usage("COMMAND [options]")
    .version(VERSION, "--version", "Print the version.")
    .option("--json", "Print JSON: one value, or one value per line for lists and streams.")
    .helpOption("--help", "Print this help.")
    .configureHelp({ showGlobalOptions: true, subcommandTerm: pathOf, formatHelp: formatWithGroups })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr() {},
      getOutHelpWidth: () => stdout.columns ?? 120,
    })
    .exitOverride(refuseFor("vendor-verification"));
  for (const command of commands) addCommand(program, command, run);
  return program;
}

function addCommand(program: Program, command: Command, run: (command: Command, args: Arguments) => Promise<void>) {
  const { name, summary, operands = [], optionalOperand, options = {}, help } = command;
  const [last, group] = name.split(" ").reverse();
  const added = (group ? groupOf(program, group) : program).command(last!).description(summary);
  added.exitOverride(refuseFor(`vendor-verification ${name}`));
  for (const operand of operands) added.argument(`<${operand}>`, "", notEmpty);
  if (optionalOperand) added.argument(`[${optionalOperand}]`, "", notEmpty);
  for (const [option, { value, does }] of Object.entries(options)) {
    added.option(`--${option}${value ? ` <${value}>` : ""}`, does);
  }
  const given = (option: string): unknown => added.getOptionValue(new ProgramOption(`--${option}`).attributeName());
  const text = (option: string) => given(option) as string | undefined;
  added.addHelpText("after", `\n${help.trim()}`).action(() =>
    run(command, {
      operands: added.args,
      text,
      required: (option) => text(option) ?? added.error(`error: --${option} is missing`),
      // The value of --no-… is false when it is given.
      flag: (option) => given(option) === !option.startsWith("no-"),
    }),
  );
}

function groupOf(program: Program, name: string): Program {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).exitOverride(refuseFor(`vendor-verification ${name}`));
}

/** Returns a handler that turns the parser's errors into UsageErrors. */
function refuseFor(path: string) {
  return (error: CommanderError) => {
    if (error.exitCode === 0) throw error;
    const problem =
      error.code === "commander.help"
        ? "a command is missing"
        : error.message.replace("error: ", "").replace("\n", " ");
    const sentence = `${problem[0]!.toUpperCase()}${problem.slice(1)}`.replace(/\.?$/, ".");
    throw new UsageError(`${sentence} See ${path} --help.`, { cause: error });
  };
}

/** Lists the commands of groups in place of the groups. Suggestions for typing errors need the groups. */
function formatWithGroups(program: Program, help: Help): string {
  help.visibleCommands = ({ commands }) =>
    commands.flatMap((each) => (each.commands.length > 0 ? each.commands : each));
  return Help.prototype.formatHelp(program, help);
}

function pathOf(command: Program): string {
  return command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
}

function notEmpty(value: string): string {
  if (value === "") throw new InvalidArgumentError("It is empty.");
  return value;
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
