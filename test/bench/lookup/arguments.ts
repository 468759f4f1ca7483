import { parseArgs } from "node:util";
import { UsageError } from "../benchmark.ts";

/** The parts of the benchmark, each of which can be asked for alone. */
export const parts = ["names", "identifiers"] as const;
export type Part = (typeof parts)[number];

export const usage = `[--size N] [--seed N] [--per-category N] [--only ${parts.join("|")}] | --names FILE --queries FILE`;

export type Arguments =
  | { readonly namesFile: string; readonly queriesFile: string }
  | {
      readonly namesFile?: undefined;
      readonly size: number;
      readonly seed: number;
      readonly perCategory: number;
      readonly parts: readonly Part[];
    };

/** Errors: UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const text = { type: "string" } as const;
  const options = { size: text, seed: text, "per-category": text, only: text, names: text, queries: text };
  const { values } = (() => {
    try {
      return parseArgs({ args: [...args], options });
    } catch (cause) {
      throw new UsageError("There is an argument that is not known.", { cause });
    }
  })();
  if (values.names !== undefined || values.queries !== undefined) {
    if (values.names === undefined || values.queries === undefined || Object.keys(values).length > 2) {
      throw new UsageError("A file of names and one of queries are needed, and nothing else.");
    }
    return { namesFile: values.names, queriesFile: values.queries };
  }
  const only = parts.filter((part) => values.only === undefined || part === values.only);
  if (only.length === 0) throw new UsageError(`There is no part "${values.only}".`);
  return {
    size: wholeNumber("size", values.size, 1_000_000),
    seed: wholeNumber("seed", values.seed, 1),
    perCategory: wholeNumber("per-category", values["per-category"], 400),
    parts: only,
  };
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new UsageError(`--${name} is a whole number from 1 on.`);
  return value;
}
