import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { generateSecrets } from "../../../deploy/local/secrets.ts";
import { migrate } from "../../../services/entity/src/migrate.ts";
import { startHelper } from "../../support/helper-process.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import type { RowBench } from "../benchmark.ts";
import { runLoader } from "../load/loader.ts";
import { extractOf } from "../registry/extract.ts";
import type { NameModel } from "../registry/names.ts";
import { askBeforeIndex } from "./before-index.ts";

/** The entity service in a separate process, with a made-up registry that was loaded before it started. */
export interface LoadedService {
  readonly address: string;
  readonly pid: number;
  readonly client: MongoClient;
  readonly mongodbUri: string;
  readonly database: string;
  /** Address that spans are exported to. */
  readonly collector: string;
  /** Seconds from the start of the process until the name index was ready. */
  readonly indexSeconds: number;
  /** Figures of the look-ups by name until then. */
  readonly beforeIndex: Readonly<Record<string, number>>;
  /** Waits until the index of this generation is in use. */
  untilGeneration(generation: number): Promise<void>;
}

const INDEX_WITHIN_MS = 600_000;

export async function startLoadedService(
  { servers, prefix, folder, log, onClose }: RowBench,
  { size, seed, names }: { size: number; seed: number; names: NameModel },
): Promise<LoadedService> {
  const client = await new MongoClient(servers.mongodbUri).connect();
  onClose(() => client.close());
  await migrate({ client, prefix });
  const environment = { MONGODB_URI: servers.mongodbUri, MONGODB_DATABASE_PREFIX: prefix };
  const file = join(folder, "registry.dat");
  log(`Generating and loading an extract of ${size} rows ...`);
  await pipeline(Readable.from(extractOf({ seed, size, names, cutDate: new Date() })), createWriteStream(file));
  await runLoader({ kind: "registry", file, environment, log });
  const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
  onClose(() => sink.stop());
  const { TIN_KEYS, TIN_HASH_KEYS } = generateSecrets();
  const KAFKA_BROKERS = servers.kafkaBrokers.join(",");
  const logFile = join(folder, "entity.log");
  const startedAt = performance.now();
  const service = await startServiceProcess({
    name: "entity",
    environment: { ...environment, KAFKA_BROKERS, TIN_KEYS, TIN_HASH_KEYS, OTEL_EXPORTER_OTLP_ENDPOINT: sink.line },
    logFile,
  });
  onClose(() => service.stop());
  const isUp = (generation: number) => readFileSync(logFile, "utf8").includes(`"generation":${generation}`);
  const untilGeneration = async (generation: number) => {
    await eventually(() => isUp(generation), { timeoutMs: INDEX_WITHIN_MS, everyMs: 200 });
  };
  const address = `127.0.0.1:${service.ports.rpc}`;
  log("Looking up names while the index is built ...");
  const beforeIndex = await askBeforeIndex({ address, registry: { seed, size, names }, isUp: () => isUp(1) });
  return {
    address,
    pid: service.pid,
    client,
    mongodbUri: servers.mongodbUri,
    database: `${prefix}entity_live`,
    collector: sink.line,
    indexSeconds: (performance.now() - startedAt) / 1_000,
    beforeIndex,
    untilGeneration,
  };
}
