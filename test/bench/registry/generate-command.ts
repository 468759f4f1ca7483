import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { extractOf, nameModelOf } from "./extract.ts";

const USAGE = `npm run generate-registry -- FILE.dat [--size 1000000] [--seed 1] [--names FILE] [--cut-date YYYY-MM-DD]
writes a made-up SAM public extract V2 with that many rows, the same for the same arguments; --names takes a file of
real names, one a line, and recombines their words`;

async function main(args: readonly string[]): Promise<number> {
  const options = parse(args);
  if (!options) {
    console.error(USAGE);
    return 2;
  }
  const { path, seed, size, namesFile, cutDate } = options;
  const names = await nameModelOf(seed, namesFile);
  await pipeline(Readable.from(extractOf({ seed, size, names, cutDate })), createWriteStream(path));
  console.log(`${path}: ${size} rows of seed ${seed}`);
  return 0;
}

function parse(args: readonly string[]) {
  const types = { size: { type: "string" }, seed: { type: "string" }, names: { type: "string" } } as const;
  try {
    const options = { ...types, "cut-date": { type: "string" } } as const;
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [size, seed] = [Number(values.size ?? 1_000_000), Number(values.seed ?? 1)];
    const cutDate = new Date(`${values["cut-date"] ?? new Date().toISOString().slice(0, 10)}T00:00:00Z`);
    const [path, ...more] = positionals;
    const isSound =
      Number.isSafeInteger(size) && size >= 1 && size < 10_000_000 && Number.isSafeInteger(seed) && seed >= 0;
    if (!path || more.length > 0 || !isSound || Number.isNaN(cutDate.getTime())) return undefined;
    return { path, seed, size, namesFile: values.names, cutDate };
  } catch {
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
