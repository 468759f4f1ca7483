import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Servers, serverCacheDir, startServers } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { dropRun } from "../support/clean-up.ts";
import { type Benchmark, type Bound, type Measured, UsageError } from "./benchmark.ts";
import { withCloses } from "./with-closes.ts";

/** One measurement of a benchmark, with its own databases and topics. */
export interface Row<B = RowBench> {
  /** Also the argument that selects the row. */
  readonly name: string;
  /** Conditions of this row, in addition to those of its benchmark. */
  readonly conditions?: Measured["conditions"];
  readonly targets: Readonly<Record<string, Bound>>;
  measure(bench: B): Promise<Readonly<Record<string, number>>>;
}

export interface RowBench {
  readonly servers: Servers;
  /** Prefix of the row's databases, of its keys in Redis and, followed by a dot, of its topics. All are removed afterwards. */
  readonly prefix: string;
  /** Folder for the row's files; removed afterwards. */
  readonly folder: string;
  /** The number that was given with the benchmark's option. */
  readonly number: number | undefined;
  readonly log: (line: string) => void;
  /** Registers a close. Closes run in reverse order when the row is done or has failed. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}

/** Returns a benchmark of rows, which are measured one after another; its arguments choose some of them. */
export function rowsBenchmark(options: {
  readonly name: string;
  readonly about: string;
  readonly conditions?: Measured["conditions"];
  readonly rows: readonly Row[];
  /** Name of an option with a number, for rows that can be larger or smaller. */
  readonly option?: string;
}): Benchmark {
  const { name, about, rows, option } = options;
  const names = `[${rows.map((row) => row.name).join("] [")}]`;
  return {
    name,
    about,
    usage: option ? `${names} [--${option} N]` : names,
    targets: Object.assign({}, ...rows.map(({ targets }) => targets)),
    async run(log, args) {
      const { names: chosenNames, number } = readArguments(args, option);
      const unknown = chosenNames.find((each) => !rows.some((row) => row.name === each));
      if (unknown !== undefined) throw new UsageError(`This benchmark has no row ${unknown}.`);
      const chosen = chosenNames.length === 0 ? rows : rows.filter((row) => chosenNames.includes(row.name));
      return await withCloses(async (onClose) => {
        const folder = join(projectRoot, ".cache", "bench", `b${randomBytes(4).toString("hex")}`);
        onClose(async () => rmSync(folder, { recursive: true, force: true }));
        const dataDir = join(folder, "servers");
        const servers = await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env });
        onClose(() => servers.stop());
        const figures: Record<string, number> = {};
        for (const row of chosen) Object.assign(figures, await measureRow(row, { servers, folder, number, log }));
        const common = { ...options.conditions, processors: cpus().length };
        const conditions = Object.assign(common, ...chosen.map((row) => row.conditions));
        return { conditions, figures, judged: chosen.flatMap(({ targets }) => Object.keys(targets)) };
      });
    },
  };
}

function measureRow(
  row: Row,
  { servers, folder, ...rest }: Pick<RowBench, "servers" | "folder" | "number" | "log">,
): Promise<Readonly<Record<string, number>>> {
  return withCloses(async (onClose) => {
    rest.log(`${row.name}:`);
    const prefix = `b${randomBytes(4).toString("hex")}_`;
    const { mongodbUri: MONGODB_URI, kafkaBrokers, redisUrl: REDIS_URL } = servers;
    onClose(() => dropRun({ MONGODB_URI, KAFKA_BROKERS: kafkaBrokers.join(","), REDIS_URL }, prefix));
    return await row.measure({ servers, prefix, folder: join(folder, row.name), ...rest, onClose });
  });
}

/** Errors: UsageError. */
function readArguments(
  args: readonly string[],
  option: string | undefined,
): { names: string[]; number: number | undefined } {
  try {
    const options = option === undefined ? {} : { [option]: { type: "string" } as const };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const text = option === undefined ? undefined : values[option];
    const number = text === undefined ? undefined : Number(text);
    if (number !== undefined && !(Number.isSafeInteger(number) && number > 0)) {
      throw new Error(`--${option} must be a number`);
    }
    return { names: positionals, number };
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
