import { basename, join } from "node:path";
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
import type { Row, RowBench } from "../benchmark.ts";
import { runLoader } from "../load/loader.ts";
import { round } from "../round.ts";
import { extractAt, rewrite, writeFirst } from "./extracts.ts";
import { openLiveDomain } from "./live-domain.ts";
import { insertMonitors } from "./monitors.ts";

const SEED = 1;
/** Each 50th row changes. */
const CHANGED_EVERY = 50;
const MONITORS_PER_ROW = 10 / 9;
const PER_ORGANIZATION = 1_000;
const POLL_MS = 250;
const DAY_MS = 86_400_000;
const WITHIN_MS = 900_000;

/** A later registry file: each monitor of a changed vendor runs once, soon, and the load is as fast as without monitors. */
export const diff: Row<"rows"> = {
  name: "diff",
  sizes: { rows: { long: 900_000, short: 40_000 } },
  conditions: {
    diff_files: `each ${CHANGED_EVERY}th row has another expiration date in the second file, and its first one in the third; ten monitors for nine rows`,
    diff_baseline: "loading the second file, without monitors, against the third",
    diff_runs: "due at once after a change; a scheduler polls every 250 ms; the relay of runs sends to nowhere",
  },
  targets: {
    diff_missed_or_repeated_runs: { at_most: 0 },
    diff_runs_of_unchanged_vendors: { at_most: 0 },
    diff_load_speed_ratio: { at_least: 0.9 },
    diff_first_run_ms: { at_most: 2 * POLL_MS },
  },
  async measure(bench, { rows }) {
    const { files, changed } = await writeFiles(bench, rows);
    const registry = await openRegistry(bench);
    await registry.load(files[0]!);
    const baseline = await registry.load(files[1]!);
    await registry.addMonitors(Math.round(rows * MONITORS_PER_ROW));
    const loaded = await registry.load(files[2]!);
    const counts = await registry.untilRun(changed);
    return {
      ...counts,
      diff_load_seconds: round(loaded, 1),
      diff_load_without_monitors_seconds: round(baseline, 1),
      diff_load_speed_ratio: round(baseline / loaded, 2),
    };
  },
};

/** Writes the files, of which the third has the rows of the first. Returns their paths and the UEIs of the changed rows. */
async function writeFiles({ folder, log }: RowBench, size: number) {
  log(`generating three files of ${size} rows ...`);
  const names = ["first.dat", "second.dat", "third.dat"];
  const [first, second, third] = names.map((name, index) => extractAt(join(folder, name), [7, 3, 0][index]!));
  await writeFirst(first!, { seed: SEED, size });
  const changed = await rewrite(first!, second!, { every: CHANGED_EVERY });
  await rewrite(first!, third!, {});
  return { files: [first!, second!, third!].map(({ path }) => path), changed };
}

/** Starts the entity service, and the parts of the monitor service that start runs after a file. */
async function openRegistry({ servers, prefix, folder, log, onClose }: RowBench) {
  const logger = createLogger({ service: "bench", level: "warn" });
  const topicPrefix = `${prefix}.`;
  const kafkaOptions: KafkaOptions = { brokers: [...servers.kafkaBrokers], clientId: "bench", topicPrefix, logger };
  await migrateAll({ mongodb: { uri: servers.mongodbUri }, databasePrefix: prefix, kafka: kafkaOptions });
  const client = await new MongoClient(servers.mongodbUri).connect();
  onClose(() => client.close());
  const entityDb = client.db(`${prefix}entity_live`);
  const live = collectionsOf(entityDb);
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
    logFile: join(folder, "entity.log"),
  });
  onClose(() => entity.stop());

  const domain = await openLiveDomain({ mongodbUri: servers.mongodbUri, prefix });
  onClose(() => domain.close());
  const { monitors, runs } = collections(domain.db);
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
  const relay = runOutboxRelay({ db: domain.db, producer, logger });
  onClose(() => relay.stop());
  const scheduling = { pollMs: POLL_MS, onClaimed: relay.nudge, signal: domain.stopping, logger };
  void runScheduler(domain.scheduler, scheduling);

  const isPublished = async () =>
    (await live.announcements.countDocuments()) === 0 &&
    (await entityDb.collection("outbox").countDocuments({ key: { $exists: true } })) === 0;
  return {
    /** Loads a file. Returns how long it took, in seconds. */
    async load(file: string): Promise<number> {
      log(`loading ${basename(file)} ...`);
      return (await runLoader({ kind: "registry", file, environment, log })).seconds;
    },

    /** Stores monitors of the registry's vendors, once nothing of earlier loads is left to be published. */
    async addMonitors(count: number): Promise<void> {
      await eventually(isPublished, { timeoutMs: WITHIN_MS, everyMs: 500 });
      log(`storing ${count} monitors ...`);
      const vendors = await live.entities.find({}, { projection: { _id: 1 } }).toArray();
      const organizations = Array.from({ length: Math.ceil(count / PER_ORGANIZATION) }, () => newId("org"));
      await insertMonitors(domain.db, {
        count,
        organizationId: (index) => organizations[index % organizations.length]!,
        entityId: (index) => vendors[index % vendors.length]!._id,
        dueAt: (index) => new Date(Date.now() + DAY_MS / 2 + (index / count) * (DAY_MS / 2)),
      });
    },

    /** Waits until the monitors of changed vendors have run and nothing is left to be published, and counts the runs. */
    async untilRun(changed: readonly string[]) {
      const vendors = await live.entities.distinct("_id", { "identifiers.uei": { $in: [...changed] } });
      const ofChanged = { entity_id: { $in: vendors } };
      const expected = await monitors.countDocuments(ofChanged);
      const isQuiet = async () =>
        (await monitors.countDocuments({ ...ofChanged, run_seq: 1 })) === 0 &&
        (await isPublished()) &&
        (await monitors.countDocuments({ "file_run.at": { $exists: true } })) === 0;
      await eventually(isQuiet, { timeoutMs: WITHIN_MS, everyMs: 500 });
      const once = await monitors.countDocuments({ ...ofChanged, run_seq: 2 });
      const all = await monitors.countDocuments({ run_seq: { $gt: 1 } });
      const [first] = await runs
        .find({ run_seq: { $gt: 1 } })
        .sort({ claimed_at: 1 })
        .limit(1)
        .toArray();
      const load = await live.loads.findOne({ state: "done" }, { sort: { cut_date: -1 } });
      return {
        diff_changed_monitors: expected,
        diff_missed_or_repeated_runs: expected - once,
        diff_runs_of_unchanged_vendors: all - (await monitors.countDocuments({ ...ofChanged, run_seq: { $gt: 1 } })),
        diff_first_run_ms: first!.claimed_at.getTime() - load!.finished_at!.getTime(),
      };
    },
  };
}
