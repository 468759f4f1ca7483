import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { newId } from "@vvs/ids";
import { createKafka, type KafkaOptions, subscription, topicNames } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { runOutboxRelay } from "@vvs/outbox";
import { RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { generateSecrets } from "../../../deploy/local/secrets.ts";
import { migrateAll } from "../../../deploy/migrate.ts";
import { collectionsOf } from "../../../services/entity/src/model/documents.ts";
import { runScheduler } from "../../../services/monitor/src/runs/scheduler.ts";
import { collections } from "../../../services/monitor/src/store.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { runLoader } from "../load/loader.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";
import { compact } from "../registry/row.ts";
import { round } from "../round.ts";
import type { Row, RowBench } from "../rows.ts";
import { openLiveDomain } from "./live-domain.ts";
import { insertMonitors } from "./monitors.ts";

const SEED = 1;
const FULL_SIZE = 900_000;
/** Each 50th row changes. */
const CHANGED_EVERY = 50;
const MONITORS_PER_ROW = 10 / 9;
const PER_ORGANIZATION = 1_000;
const POLL_MS = 250;
const DAY_MS = 86_400_000;
const WITHIN_MS = 900_000;

/** A second registry file: each monitor of a changed vendor runs once, soon, and the load is as fast as without monitors. */
export const diff: Row = {
  name: "diff",
  conditions: {
    diff_files: `of ${FULL_SIZE} rows, or --rows; each ${CHANGED_EVERY}th row has another expiration date in the second file; ten monitors for nine rows`,
    diff_baseline: "loading the same second file in a database without monitors",
    diff_runs: "due at once after a change; a scheduler polls every 250 ms; the relay of runs sends to nowhere",
  },
  targets: {
    diff_missed_or_repeated_runs: { at_most: 0 },
    diff_runs_of_unchanged_vendors: { at_most: 0 },
    diff_load_speed_ratio: { at_least: 0.9 },
    diff_first_run_ms: { at_most: 2 * POLL_MS },
  },
  async measure(bench) {
    const rows = bench.number ?? FULL_SIZE;
    mkdirSync(bench.folder, { recursive: true });
    const files = await writeFiles(bench, rows);
    const without = await openRegistry(bench, "without", files.first);
    const baseline = await without.loadSecond(files.second);
    const watched = await openRegistry(bench, "with", files.first);
    const monitors = await watched.startMonitors(Math.round(rows * MONITORS_PER_ROW));
    const loaded = await watched.loadSecond(files.second);
    const counts = await monitors.untilRun(files.changed);
    return {
      diff_rows: rows,
      ...counts,
      diff_load_seconds: round(loaded, 1),
      diff_load_without_monitors_seconds: round(baseline, 1),
      diff_load_speed_ratio: round(baseline / loaded, 2),
    };
  },
};

/** Writes both files, and returns their paths and the UEIs of the changed rows. */
async function writeFiles({ folder, log }: RowBench, size: number) {
  log(`generating two files of ${size} rows ...`);
  const [first, second] = [join(folder, "first.dat"), join(folder, "second.dat")];
  const today = new Date();
  const cutDate = new Date(today.getTime() - 7 * DAY_MS);
  const names = await nameModelOf(SEED);
  await pipeline(Readable.from(extractOf({ seed: SEED, size, names, cutDate })), createWriteStream(first));
  const changed: string[] = [];
  async function* later() {
    let index = -1;
    for await (const line of createInterface({ input: createReadStream(first) })) {
      if (/^(BOF|EOF) /.test(line)) yield `${line.replace(compact(cutDate), compact(today))}\n`;
      else if (++index % CHANGED_EVERY > 0) yield `${line}\n`;
      else {
        const fields = line.split("|");
        changed.push(fields[0]!);
        fields[8] = String(Number(fields[8]) + 10_000); // a year later
        yield `${fields.join("|")}\n`;
      }
    }
  }
  await pipeline(Readable.from(later()), createWriteStream(second));
  return { first, second, changed };
}

/** Loads the first file into databases of its own, with the entity service beside it. */
async function openRegistry({ servers, prefix: base, folder, log, onClose }: RowBench, name: string, first: string) {
  const [prefix, topicPrefix] = [`${base}${name}_`, `${base}.${name}.`];
  const logger = createLogger({ service: "bench", level: "warn" });
  const kafkaOptions: KafkaOptions = { brokers: [...servers.kafkaBrokers], clientId: "bench", topicPrefix, logger };
  await migrateAll({ mongodbUri: servers.mongodbUri, databasePrefix: prefix, kafka: kafkaOptions });
  const client = await new MongoClient(servers.mongodbUri).connect();
  onClose(() => client.close());
  const live = collectionsOf(client.db(`${prefix}entity_live`));
  const environment = {
    MONGODB_URI: servers.mongodbUri,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: servers.kafkaBrokers.join(","),
    KAFKA_TOPIC_PREFIX: topicPrefix,
  };
  const { TIN_KEYS, TIN_HASH_KEYS } = generateSecrets();
  const entity = await startServiceProcess({
    name: "entity",
    environment: { ...environment, TIN_KEYS, TIN_HASH_KEYS },
    logFile: join(folder, `${name}.log`),
  });
  onClose(() => entity.stop());
  log(`loading the first file ${name} monitors ...`);
  await runLoader({ file: first, environment, log });

  async function startMonitors(count: number) {
    log(`storing ${count} monitors ...`);
    const domain = await openLiveDomain({ mongodbUri: servers.mongodbUri, prefix });
    onClose(() => domain.close());
    const vendors = await live.entities.find({}, { projection: { _id: 1 } }).toArray();
    const organizations = Array.from({ length: Math.ceil(count / PER_ORGANIZATION) }, () => newId("org"));
    await insertMonitors(domain.db, {
      count,
      organizationId: (index) => organizations[index % organizations.length]!,
      entityId: (index) => vendors[index % vendors.length]!._id,
      dueAt: (index) => new Date(Date.now() + DAY_MS / 2 + (index / count) * (DAY_MS / 2)),
    });
    const kafka = createKafka(kafkaOptions);
    const consumer = kafka.runConsumer({
      groupId: "monitor.live",
      subscriptions: [
        subscription({
          topic: kafka.topicFor("live", topicNames.registryChanged),
          schema: RegistryChangedSchema,
          handle: domain.records.registryChanged,
        }),
      ],
      concurrency: 16,
      logger,
    });
    onClose(() => consumer.stop());
    await consumer.ready;
    const producer = { send: async () => undefined };
    const relay = runOutboxRelay({ db: domain.db, producer, owner: randomUUID(), logger });
    onClose(() => relay.stop());
    const scheduling = { pollMs: POLL_MS, onClaimed: relay.nudge, signal: domain.stopping, logger };
    void runScheduler(domain.scheduler, scheduling);
    return { untilRun: (changed: readonly string[]) => untilRun(domain.db, changed) };
  }

  /** Waits until the monitors of changed vendors have run and nothing is left to be published, and counts the runs. */
  async function untilRun(db: Parameters<typeof collections>[0], changed: readonly string[]) {
    const { monitors } = collections(db);
    const vendors = await live.entities.distinct("_id", { "identifiers.uei": { $in: [...changed] } });
    const ofChanged = { entity_id: { $in: vendors } };
    const expected = await monitors.countDocuments(ofChanged);
    const isQuiet = async () =>
      (await monitors.countDocuments({ ...ofChanged, run_seq: 1 })) === 0 &&
      (await live.announcements.countDocuments()) === 0 &&
      (await client.db(`${prefix}entity_live`).collection("outbox").countDocuments()) === 0 &&
      (await monitors.countDocuments({ file_run: { $exists: true } })) === 0;
    await eventually(isQuiet, { timeoutMs: WITHIN_MS, everyMs: 500 });
    const once = await monitors.countDocuments({ ...ofChanged, run_seq: 2 });
    const all = await monitors.countDocuments({ run_seq: { $gt: 1 } });
    const [first] = await monitors
      .find({ run_seq: { $gt: 1 } })
      .sort({ claimed_at: 1 })
      .limit(1)
      .toArray();
    const load = await live.loads.findOne({ state: "done" }, { sort: { cut_date: -1 } });
    return {
      diff_changed_monitors: expected,
      diff_missed_or_repeated_runs: expected - once,
      diff_runs_of_unchanged_vendors: all - (await monitors.countDocuments({ ...ofChanged, run_seq: { $gt: 1 } })),
      diff_first_run_ms: first!.claimed_at!.getTime() - load!.finished_at!.getTime(),
    };
  }

  return {
    startMonitors,
    /** Returns how long the load took, in seconds. */
    loadSecond: async (file: string) => (await runLoader({ file, environment, log })).seconds,
  };
}
