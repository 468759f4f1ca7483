import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Db, MongoClient } from "mongodb";
import { generateSecrets } from "../../../deploy/local/secrets.ts";
import { migrate } from "../../../services/entity/src/migrate.ts";
import { startHelper } from "../../support/helper-process.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import type { Benchmark, Figures, RowBench } from "../benchmark.ts";
import { exclusionsOf } from "../registry/exclusions.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";
import { round } from "../round.ts";
import { runLoader } from "./loader.ts";
import { startLookups } from "./lookups.ts";
import { EXCLUSION_ROWS, insertRaw, writeRawExclusions } from "./raw-inserts.ts";

/** With this many times fewer rows, the loader's memory is measured again. */
const FEWER = 10;
const SEED = 1;

/** The operator's load command, while the service answers look-ups, against inserting the same documents directly. */
export const loadBenchmark: Benchmark = {
  name: "load",
  about: "made-up files through the load command against bare bulk writes of the same documents",
  conditions: {
    baseline: "insertMany of 1,000 documents at a time, entities and snapshots, same indexes, majority writes",
    baseline_of_exclusions:
      "insertMany and bulkWrite of 1,000 documents at a time: the rows that the load stored, the entities that it changed and their snapshots; same indexes, majority writes. The ratio is their seconds to those of the whole load",
    look_ups: "20 a second by UEI and 5 by name, of the rows being loaded, during the load",
    telemetry: "every span of the service exported over OTLP to a sink on this machine",
    processes: "loader, entity service, MongoDB, all on this machine",
  },
  rows: [
    {
      name: "files",
      // Of 2026.
      sizes: { size: { long: 900_000, short: 60_000 }, exclusions: { long: 170_000, short: 50_000 } },
      targets: {
        ratio_to_insert_many: { at_least: 0.4 },
        loader_peak_rss_mb: { at_most: 300 },
        exclusions_ratio_to_bulk_write: { at_least: 0.4 },
        exclusions_loader_peak_rss_mb: { at_most: 300 },
        exclusions_memory_growth: { at_most: 1.5 },
        identifier_p99_ms: { at_most: 50 },
        name_p99_ms: { at_most: 150 },
      },
      measure,
    },
  ],
};

type Sizes = Readonly<Record<"size" | "exclusions", number>>;

async function measure(
  { servers, prefix, folder, log, onClose }: RowBench,
  { size, exclusions }: Sizes,
): Promise<Figures> {
  const client = await new MongoClient(servers.mongodbUri, { writeConcern: { w: "majority" } }).connect();
  onClose(() => client.close());
  const rawPrefix = `${prefix}raw_`;
  for (const each of [prefix, rawPrefix]) await migrate({ client, prefix: each });
  const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
  onClose(() => sink.stop());
  const environment = { MONGODB_URI: servers.mongodbUri, MONGODB_DATABASE_PREFIX: prefix };
  const { TIN_KEYS, TIN_HASH_KEYS } = generateSecrets();
  const KAFKA_BROKERS = servers.kafkaBrokers.join(",");
  const service = await startServiceProcess({
    name: "entity",
    environment: { ...environment, KAFKA_BROKERS, TIN_KEYS, TIN_HASH_KEYS, OTEL_EXPORTER_OTLP_ENDPOINT: sink.line },
    logFile: join(folder, "entity.log"),
  });
  onClose(() => service.stop());

  const file = join(folder, "registry.dat");
  const names = await nameModelOf(SEED);
  log(`Generating an extract of ${size} rows ...`);
  await pipeline(Readable.from(extractOf({ seed: SEED, size, names, cutDate: new Date() })), createWriteStream(file));
  log("Loading it, with look-ups at the same time ...");
  const lookups = startLookups({ address: `127.0.0.1:${service.ports.rpc}`, seed: SEED, size, names });
  const first = await runLoader({ kind: "registry", file, environment, log });
  const latencies = await lookups.stop();
  log("Loading it again ...");
  const again = await runLoader({ kind: "registry", file, environment, log });
  log("Inserting the same documents ...");
  const live = (each: string) => client.db(`${each}entity_live`);
  const raw = await insertRaw(live(prefix), live(rawPrefix));
  const ofExclusions = await measureExclusions({ size: exclusions, folder, environment, log }, [
    live(prefix),
    live(rawPrefix),
  ]);
  return {
    load_seconds: first.seconds,
    load_rows_per_second: Math.round(size / first.seconds),
    insert_many_seconds: round(raw.seconds, 1),
    insert_many_documents: raw.documents,
    ratio_to_insert_many: round(raw.seconds / first.seconds, 3),
    loader_peak_rss_mb: Math.max(first.peakRssMb, again.peakRssMb),
    ...latencies,
    ...ofExclusions,
    entities_loaded: first.new,
    unchanged_load_seconds: again.seconds,
    unchanged_load_rows_per_second: Math.round(again.unchanged / again.seconds),
  };
}

/** Loads exclusions files of two sizes, and writes what the larger one stored directly. */
async function measureExclusions(
  {
    size,
    folder,
    environment,
    log,
  }: Pick<RowBench, "folder" | "log"> & { size: number; environment: Readonly<Record<string, string>> },
  [live, raw]: readonly [Db, Db],
): Promise<Record<string, number>> {
  const load = async (rows: number, fileName: string) => {
    const file = join(folder, fileName);
    await pipeline(Readable.from(exclusionsOf({ seed: SEED, size: rows })), createWriteStream(file));
    log(`Loading an exclusions file of ${rows} rows ...`);
    return runLoader({ kind: "exclusions", file, environment, log });
  };
  const fewer = await load(Math.ceil(size / FEWER), "exclusions_26001.csv");
  // The entities that it excluded are as they would be after its load, also where they are written directly.
  await writeRawExclusions(live, raw, "exclusions_26001.csv");
  for (const each of [live, raw]) for (const name of EXCLUSION_ROWS) await each.collection(name).deleteMany({});
  const full = await load(size, "exclusions_26002.csv");
  log("Writing the same documents ...");
  const bare = await writeRawExclusions(live, raw, "exclusions_26002.csv");
  // One row more: the same file would be the same load.
  const next = await load(size + 1, "exclusions_26003.csv");
  const peakRssMb = Math.max(full.peakRssMb, next.peakRssMb);
  return {
    exclusions_load_seconds: full.seconds,
    exclusions_rows_per_second: Math.round(size / full.seconds),
    exclusions_documents: bare.documents,
    exclusions_bulk_write_seconds: round(bare.seconds, 1),
    exclusions_ratio_to_bulk_write: round(bare.seconds / full.seconds, 3),
    exclusions_next_day_seconds: next.seconds,
    exclusions_loader_peak_rss_mb: peakRssMb,
    exclusions_memory_growth: round(peakRssMb / fewer.peakRssMb, 2),
  };
}
