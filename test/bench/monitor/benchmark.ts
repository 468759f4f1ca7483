import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Servers, serverCacheDir, startServers } from "../../../deploy/local/servers/index.ts";
import { projectRoot } from "../../../deploy/local/services.ts";
import { dropRun } from "../../support/clean-up.ts";
import { type Benchmark, UsageError } from "../benchmark.ts";
import { withCloses } from "../with-closes.ts";
import { diff } from "./diff.ts";
import { fair } from "./fair.ts";
import { idle } from "./idle.ts";
import type { Row } from "./row.ts";
import { slowTin } from "./slow-tin.ts";

const rows: readonly Row[] = [fair, idle, slowTin, diff];

/** Monitors in numbers that an organization with a large account has. */
export const monitorBenchmark: Benchmark = {
  name: "monitor",
  about: "many monitors: their scheduler, organizations with very different numbers of them, and a slow TIN provider",
  usage: `[${rows.map(({ name }) => name).join("] [")}] [--rows N]`,
  targets: Object.assign({}, ...rows.map(({ targets }) => targets)),
  async run(log, given) {
    const { names: args, size } = readArguments(given);
    const unknown = args.find((arg) => !rows.some(({ name }) => name === arg));
    if (unknown !== undefined) throw new UsageError(`This benchmark has no row ${unknown}.`);
    const chosen = args.length === 0 ? rows : rows.filter(({ name }) => args.includes(name));
    return await withCloses(async (onClose) => {
      const folder = join(projectRoot, ".cache", "bench", `b${randomBytes(4).toString("hex")}`);
      onClose(async () => rmSync(folder, { recursive: true, force: true }));
      const dataDir = join(folder, "servers");
      const servers = await startServers({ dataDir, cacheDir: serverCacheDir(process.env), log, env: process.env });
      onClose(() => servers.stop());
      const figures: Record<string, number> = {};
      for (const row of chosen) Object.assign(figures, await measureRow(row, { servers, folder, size, log }));
      const conditions = Object.assign({ processors: cpus().length }, ...chosen.map((row) => row.conditions));
      return { conditions, figures, judged: chosen.flatMap(({ targets }) => Object.keys(targets)) };
    });
  },
};

function measureRow(
  row: Row,
  {
    servers,
    folder,
    size,
    log,
  }: { servers: Servers; folder: string; size: number | undefined; log: (line: string) => void },
): Promise<Readonly<Record<string, number>>> {
  return withCloses(async (onClose) => {
    log(`${row.name}:`);
    const prefix = `b${randomBytes(4).toString("hex")}_`;
    const { mongodbUri: MONGODB_URI, kafkaBrokers } = servers;
    onClose(() => dropRun({ MONGODB_URI, KAFKA_BROKERS: kafkaBrokers.join(",") }, prefix));
    return await row.measure({ servers, prefix, folder: join(folder, row.name), rows: size, log, onClose });
  });
}

/** Errors: UsageError. */
function readArguments(args: readonly string[]): { names: string[]; size: number | undefined } {
  try {
    const options = { rows: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const size = values.rows === undefined ? undefined : Number(values.rows);
    if (size !== undefined && !(Number.isSafeInteger(size) && size > 0)) throw new Error("--rows must be a number");
    return { names: positionals, size };
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
