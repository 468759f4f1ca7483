import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extractOf, nameModelOf } from "../registry/extract.ts";
import { compact } from "../registry/row.ts";

const DAY_MS = 86_400_000;

/** A registry file to write. */
export interface Extract {
  readonly path: string;
  readonly cutDate: Date;
}

/** Returns a file that was cut this many days ago. */
export function extractAt(path: string, daysAgo: number): Extract {
  return { path, cutDate: new Date(Date.now() - daysAgo * DAY_MS) };
}

/** Writes a file of generated rows. */
export async function writeFirst({ path, cutDate }: Extract, rows: { seed: number; size: number }): Promise<void> {
  const names = await nameModelOf(rows.seed);
  await pipeline(Readable.from(extractOf({ ...rows, names, cutDate })), createWriteStream(path));
}

/**
 * Writes a file with the rows of another one, in which each `every`-th row expires a year later; none where absent. Returns
 * the UEIs of the changed rows.
 */
export async function rewrite(from: Extract, to: Extract, { every }: { every?: number }): Promise<string[]> {
  const changed: string[] = [];
  async function* rewritten() {
    let index = -1;
    for await (const line of createInterface({ input: createReadStream(from.path) })) {
      if (/^(BOF|EOF) /.test(line)) yield `${line.replace(compact(from.cutDate), compact(to.cutDate))}\n`;
      else if (every === undefined || ++index % every > 0) yield `${line}\n`;
      else {
        const fields = line.split("|");
        changed.push(fields[0]!);
        fields[8] = String(Number(fields[8]) + 10_000);
        yield `${fields.join("|")}\n`;
      }
    }
  }
  await pipeline(Readable.from(rewritten()), createWriteStream(to.path));
  return changed;
}
