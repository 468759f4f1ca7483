import { parseArgs } from "node:util";
import { UsageError } from "../benchmark.ts";

/** Parts of the benchmark. Each can be run separately. */
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

/** Parses the arguments. Errors: UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const text = { type: "string" } as const;
  const options = { size: text, seed: text, "per-category": text, only: text, names: text, queries: text };
  const { values } = (() => {
    try {
      return parseArgs({ args: [...args], options });
    } catch (cause) {
      throw new UsageError("Unknown argument.", { cause });
    }
  })();
  if (values.names !== undefined || values.queries !== undefined) {
    if (values.names === undefined || values.queries === undefined || Object.keys(values).length > 2) {
      throw new UsageError("--names and --queries must be given together, without other arguments.");
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
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} must be a whole number of at least 1.`);
  return value;
}
