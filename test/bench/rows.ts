import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Servers, serverCacheDir, startServers } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { dropRun } from "../support/clean-up.ts";
import { type Benchmark, judge, type Measured, type Row, type RowBench, UsageError } from "./benchmark.ts";
import { withCloses } from "./with-closes.ts";

export interface Chosen {
  readonly rows: readonly { readonly row: Row; readonly sizes: Readonly<Record<string, number>> }[];
  readonly files: Readonly<Record<string, string>>;
}

/** Returns a benchmark's arguments, for people. */
export function usageOf({ rows }: Benchmark): string {
  const names = rows.length > 1 ? rows.filter(({ files }) => !files).map(({ name }) => `[${name}]`) : [];
  const sizes = [...new Set(rows.flatMap((row) => Object.keys(row.sizes ?? {})))].map((size) => `[--${size} N]`);
  const files = rows.flatMap((row) => (row.files ? [`[${row.files.map((file) => `--${file} FILE`).join(" ")}]`] : []));
  return [...names, ...sizes, ...files].join(" ");
}

/** Returns the rows that arguments choose, with their sizes; all for no arguments. Errors: UsageError. */
export function chosenRows({ rows }: Benchmark, args: readonly string[], form: "long" | "short"): Chosen {
  const sizes = new Set(rows.flatMap((row) => Object.keys(row.sizes ?? {})));
  const fileNames = rows.flatMap((row) => row.files ?? []);
  const { values, positionals } = parsed(args, [...sizes, ...fileNames]);
  const numbers = Object.entries(values).filter(([name]) => sizes.has(name));
  const wrong = numbers.find(([, text]) => !(Number.isSafeInteger(Number(text)) && Number(text) > 0));
  if (wrong) throw new UsageError(`--${wrong[0]} must be a whole number of at least 1.`);
  const files: Record<string, string> = {};
  for (const name of fileNames) if (values[name] !== undefined) files[name] = values[name];
  const [unknown] = positionals.filter((each) => !rows.some(({ name }) => name === each));
  if (unknown !== undefined) throw new UsageError(`This benchmark has no row ${unknown}.`);
  const isChosen = (row: Row) =>
    Object.keys(files).length > 0
      ? row.files?.every((file) => file in files)
      : !row.files && (positionals.length === 0 || positionals.includes(row.name));
  const chosen = rows.filter(isChosen).map((row) => {
    const own = Object.entries(row.sizes ?? {}).map(([name, size]) => [name, Number(values[name] ?? size[form])]);
    return { row, sizes: Object.fromEntries(own) };
  });
  if (chosen.length === 0) throw new UsageError("Nothing to measure.");
  return { rows: chosen, files };
}

/** Errors: UsageError. */
function parsed(args: readonly string[], names: readonly string[]) {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** Measures rows one after another. One that fails does not stop the others. Errors: UsageError. */
export async function measureRows({ rows, files }: Chosen, log: (line: string) => void): Promise<Measured[]> {
  return await withCloses(async (onClose) => {
    const folder = join(projectRoot, ".cache", "bench", `b${randomBytes(4).toString("hex")}`);
    onClose(() => rmSync(folder, { recursive: true, force: true }));
    const usesServers = rows.some(({ row }) => row.usesServers !== false);
    const dataDir = join(folder, "servers");
    const servers = usesServers
      ? await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env })
      : noServers;
    onClose(() => servers.stop());

    const shared = new Map<string, Promise<unknown>>();
    const share: RowBench["share"] = <T>(name: string, prepare: (bench: RowBench) => Promise<T>) => {
      const prepared = shared.get(name) ?? prepare(openBench(onClose));
      shared.set(name, prepared);
      return prepared as Promise<T>;
    };
    /** Names databases, topics and a folder, which are removed with the other closes. */
    function openBench(onCloseOfBench: RowBench["onClose"]): RowBench {
      const prefix = `b${randomBytes(4).toString("hex")}_`;
      const { mongodbUri: MONGODB_URI, kafkaBrokers, redisUrl: REDIS_URL } = servers;
      const KAFKA_BROKERS = kafkaBrokers.join(",");
      if (usesServers) onCloseOfBench(() => dropRun({ MONGODB_URI, KAFKA_BROKERS, REDIS_URL }, prefix));
      const own = join(folder, prefix);
      mkdirSync(own, { recursive: true });
      return { servers, prefix, folder: own, files, log, onClose: onCloseOfBench, share };
    }
    const measured: Measured[] = [];
    for (const chosen of rows) {
      log(`${chosen.row.name}:`);
      measured.push(await measureRow(chosen, openBench, log));
    }
    return measured;
  });
}

const noServers: Servers = { mongodbUri: "", kafkaBrokers: [], redisUrl: "", stop: async () => undefined };

async function measureRow(
  { row, sizes }: Chosen["rows"][number],
  openBench: (onClose: RowBench["onClose"]) => RowBench,
  log: (line: string) => void,
): Promise<Measured> {
  const about = { row: row.name, sizes, conditions: { ...row.conditions, processors: cpus().length } };
  try {
    const figures = await withCloses((onClose) => row.measure(openBench(onClose), sizes));
    const targets = judge(typeof row.targets === "function" ? row.targets(sizes) : row.targets, figures);
    return { ...about, figures, targets };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
    log(stack);
    return { ...about, figures: {}, targets: {}, failure: message || "failed" };
  }
}
