import { readFile } from "node:fs/promises";
import { createNameModel, type NameModel } from "./names.ts";
import { recombinationOf } from "./recombine.ts";
import { compact, rowAt } from "./row.ts";

export interface RegistryOptions {
  /** The same seed and size make the same file, byte for byte. */
  readonly seed: number;
  /** Number of rows. */
  readonly size: number;
  readonly names: NameModel;
  /** Date of the registry's state in the file. */
  readonly cutDate: Date;
}

const ROWS_PER_CHUNK = 500;

/** Yields a complete SAM public extract V2 in chunks, with header and trailer that count its rows. Constant memory. */
export async function* extractOf({ seed, size, names, cutDate }: RegistryOptions): AsyncGenerator<string> {
  const counts = `PUBLIC V2 00000000 ${compact(cutDate)} ${String(size).padStart(7, "0")} 0000001`;
  yield `BOF ${counts}\n`;
  for (let start = 0; start < size; start += ROWS_PER_CHUNK) {
    let chunk = "";
    for (let index = start; index < Math.min(size, start + ROWS_PER_CHUNK); index++) {
      chunk += `${rowAt({ seed, index, names, cutDate })}\n`;
    }
    yield chunk;
  }
  yield `EOF ${counts}\n`;
}

/** Returns the names of a made-up registry: invented, or recombined from the names in a file, one a line. */
export async function nameModelOf(seed: number, namesFile?: string): Promise<NameModel> {
  if (namesFile === undefined) return createNameModel(seed);
  const lines = (await readFile(namesFile, "utf8")).split(/\r?\n/).filter((line) => line.trim() !== "");
  return createNameModel(seed, recombinationOf(lines));
}
