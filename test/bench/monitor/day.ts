import { join } from "node:path";
import { newId } from "@vvs/ids";
import { createKafka, subscription, type TopicName, topicFor, topicNames } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { runOutboxRelay, shardOf } from "@vvs/outbox";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import {
  ChangeDetectedSchema,
  LoadStep,
  type RegistryChanged,
  RegistryChangedSchema,
  type VerificationCompleted,
  VerificationCompletedSchema,
} from "@vvs/proto/events/v1/events";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { createClient } from "@vvs/rpc";
import { eventually } from "@vvs/testing";
import { type Db, MongoClient } from "mongodb";
import { collectionsOf as entityCollections } from "../../../services/entity/src/model/documents.ts";
import { periodsMs } from "../../../services/monitor/src/model/frequency.ts";
import { collections } from "../../../services/monitor/src/store.ts";
import { createJudge } from "../../../services/monitor/src/sweep/judge.ts";
import { createSweep, MARGIN_MS } from "../../../services/monitor/src/sweep/sweep.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startVerificationStack } from "../../support/verification-stack.ts";
import type { Figures, Row, RowBench } from "../benchmark.ts";
import { runLoader } from "../load/loader.ts";
import { cpuMsOf } from "../lookup/process-figures.ts";
import { round } from "../round.ts";
import { extractAt, rewrite, writeFirst } from "./extracts.ts";
import { openLiveDomain } from "./live-domain.ts";
import { insertStanding } from "./standing-monitors.ts";

const SEED = 1;
const DAY_MS = periodsMs.daily;
/** Vendors for each monitor. */
const VENDORS = 0.9;
const PER_ORGANIZATION = 1_000;
/** Maximum number of monitors with a second day: of a million, a tenth makes 100,000 real runs. */
const MAX_WITH_SECOND_DAY = 100_000;
/** The sweep's rounds of a day, one each 30 s. */
const MAX_ROUNDS = 2_880;
/** Monitors in a round, where they are so few that rounds of 30 s would be empty: as many as a million have. */
const PER_ROUND = 350;
/** Maximum number of runs in flight. */
const MAX_OPEN = 500;
const IDLE_MS = 10_000;
const WITHIN_MS = 3_600_000;
/** How long an event may come after its run, in milliseconds. */
const LATE_MS = 60_000;

/**
 * A day of daily monitors that stand, after a file that changed each 50th vendor, and where they are not too many, another one after a
 * file that changed each 10th.
 */
export const day: Row<"day-monitors"> = {
  name: "day",
  sizes: { "day-monitors": { long: 1_000_000, short: 20_000 } },
  conditions: {
    day_monitors:
      "daily, of 0.9 times as many vendors, all standing as two real runs leave them; up to 1,000 in each organization",
    day_clock: `the sweep and the scheduler run on a virtual clock, in rounds of ${PER_ROUND} monitors (those of 30 s of a million); entity, verification, change-detector, Kafka and MongoDB are real`,
    day_files: `the registry's next file changes 2 % of the vendors at the beginning of the day; with up to ${MAX_WITH_SECOND_DAY} monitors, the one after it 10 % on a second day`,
    day_twin:
      "which runs find what follows from the files: `missed` are monitors of changed vendors without an event, `doubled` further events",
    day_commands: "of MongoDB, from all services, without those that they send while nothing is due",
    day_kept: "data and indexes of monitor, verification and change-detector",
    day_sweep: "the checks of a day at once, as after an outage; processor time of all processes with MongoDB's",
  },
  targets: {
    day_real_runs_share: { at_most: 0.03 },
    day_missed: { at_most: 0 },
    day_doubled: { at_most: 0 },
    day_kept_mb_per_million: { at_most: 300 },
    day_commands_per_monitor_day: { at_most: 2 },
    day_sweep_per_second: { at_least: 3_000 },
  },
  async measure(bench, { "day-monitors": monitors }) {
    const { log } = bench;
    const changing = monitors > MAX_WITH_SECOND_DAY ? [50] : [50, 10];
    const files = await writeFiles(bench, Math.round(monitors * VENDORS), changing);
    const product = await startProduct(bench, files.first);
    log(`storing ${monitors} standing monitors ...`);
    const storedMb = await product.addMonitors(monitors);
    const days: Awaited<ReturnType<typeof product.day>>[] = [];
    for (const { path, changed } of files.later) days.push(await product.day(path, changed));
    const swept = await product.sweepAgain();
    const sum = (of: "missed" | "doubled" | "others") => days.reduce((total, each) => total + each[of], 0);
    return {
      day_missed: sum("missed"),
      day_doubled: sum("doubled"),
      day_other_events: sum("others"),
      day_standing_mb_per_million: round((storedMb / monitors) * 1_000_000, 1),
      ...figuresOf(days[0]!, monitors, ""),
      ...(days[1] && figuresOf(days[1], monitors, "_at_10_percent")),
      ...swept,
    };
  },
};

function figuresOf(day: { runs: number; keptMb: number; commands: number }, monitors: number, suffix: string): Figures {
  return {
    [`day_real_runs_share${suffix}`]: round(day.runs / monitors, 4),
    [`day_kept_mb_per_million${suffix}`]: round((day.keptMb / monitors) * 1_000_000, 1),
    [`day_commands_per_monitor_day${suffix}`]: round(day.commands / monitors, 2),
  };
}

/** Writes the first file and those after it, of which each changes one of `changing` rows. Returns their paths, and the changed UEIs. */
async function writeFiles({ folder, log }: RowBench, size: number, changing: readonly number[]) {
  log(`generating ${1 + changing.length} files of ${size} rows ...`);
  const [first, ...others] = [5, 3, 1].map((daysAgo) => extractAt(join(folder, `${daysAgo}.dat`), daysAgo));
  await writeFirst(first!, { seed: SEED, size });
  const later: { path: string; changed: string[] }[] = [];
  for (const [index, every] of changing.entries()) {
    const [from, to] = [others[index - 1] ?? first!, others[index]!];
    later.push({ path: to.path, changed: await rewrite(from, to, { every }) });
  }
  return { first: first!.path, later };
}

/** Starts entity, verification and change-detector as processes, and monitor's parts in this one, on a clock of its own. */
async function startProduct({ servers, prefix, folder, log, onClose }: RowBench, registry: string) {
  const logger = createLogger({ service: "bench", level: "warn" });
  const stack = await startVerificationStack({ servers, prefix, folder, registry, log });
  onClose(() => stack.stop());
  const { environment } = stack;
  const detector = await startServiceProcess({
    name: "change-detector",
    environment,
    logFile: join(folder, "detector.log"),
  });
  onClose(() => detector.stop());
  const client = await new MongoClient(servers.mongodbUri).connect();
  onClose(() => client.close());
  const db = (service: string) => client.db(`${prefix}${service}_live`);
  const databases = { monitor: db("monitor"), verification: db("verification"), detector: db("change_detector") };
  const vendors = entityCollections(db("entity")).entities;
  const { monitors, runs, events } = collections(databases.monitor);

  const clock = { at: new Date(Date.now() - 3 * DAY_MS) };
  const topicPrefix = `${prefix}.`;
  const topic = (name: TopicName) => topicFor({ prefix: topicPrefix, environment: "live", topic: name });
  const domain = await openLiveDomain({
    ...{ mongodbUri: servers.mongodbUri, prefix, now: () => clock.at, topicFor: topic },
  });
  onClose(() => domain.close());
  const kafka = createKafka({ brokers: [...servers.kafkaBrokers], clientId: "bench", topicPrefix, logger });
  const { changeDetected } = domain.records;
  /** Numbers of runs that were claimed and that ended, and of vendors that a file was said to change. */
  const seen = { claimed: 0, ended: 0, announced: 0, checked: 0 };
  async function verificationCompleted(record: VerificationCompleted): Promise<void> {
    await domain.records.verificationCompleted(record);
    if (record.run) seen.ended += 1;
  }
  async function registryChanged(record: RegistryChanged): Promise<void> {
    await domain.records.registryChanged(record);
    if (record.step === LoadStep.UNSPECIFIED) seen.announced += record.entityIds.length;
  }
  const completed = { topic: topic(topicNames.verificationCompleted), schema: VerificationCompletedSchema };
  const detected = { topic: topic(topicNames.changeDetected), schema: ChangeDetectedSchema };
  const changed = { topic: topic(topicNames.registryChanged), schema: RegistryChangedSchema };
  const consumer = kafka.runConsumer({
    groupId: "monitor.live",
    subscriptions: [
      subscription({ ...completed, handle: verificationCompleted }),
      subscription({ ...detected, handle: changeDetected }),
      subscription({ ...changed, handle: registryChanged }),
    ],
    concurrency: 16,
    logger,
  });
  onClose(() => consumer.stop());
  await consumer.ready;
  const producer = kafka.producer();
  onClose(() => producer.close());
  const relay = runOutboxRelay({ db: domain.db, producer, logger });
  onClose(() => relay.stop());

  const at = (port: number) => ({ address: `127.0.0.1:${port}`, tls: undefined });
  const verification = createClient(VerificationService, { ...at(stack.ports.verification.rpc), caller: "monitor" });
  onClose(() => verification.close());
  const entities = createClient(EntityService, { ...at(stack.ports.entity.rpc), caller: "verification" });
  onClose(() => entities.close());
  const { standing, positions } = domain;
  const checked = (findings: readonly unknown[]) => {
    seen.checked += findings.length;
  };
  const sweep = createSweep({
    ...{ standing, positions, judge: createJudge(verification), isSuspended: () => false, runTimeoutMs: 600_000 },
    metrics: { checked },
    ...{ leases: { held: () => [shardOf("sweep")] }, now: () => clock.at },
  });

  const until = (condition: () => unknown) =>
    eventually(async () => condition(), { timeoutMs: WITHIN_MS, everyMs: 50 });

  /** Claims what is due, as fast as runs end. */
  async function claimDue(): Promise<void> {
    for (let due = 1; due > 0; ) {
      const claims = await domain.scheduler.claimDue();
      due = claims.due;
      seen.claimed += claims.claimed;
      if (claims.claimed > 0) relay.nudge();
      await until(() => seen.claimed - seen.ended < MAX_OPEN);
    }
  }

  /** Returns a function that compares the events since a time with those that runs of all monitors would have reported. */
  async function resultOf(changedUeis: readonly string[], since: Date) {
    const changed = vendors.find({ "identifiers.uei": { $in: [...changedUeis] } }).project<{ _id: string }>({ _id: 1 });
    const entityIds = new Set((await changed.toArray()).map(({ _id }) => _id));
    const expected = await monitors.countDocuments({ entity_id: { $in: [...entityIds] } });
    return async () => {
      const found = await events
        .find({ created_at: { $gte: since } })
        .project<{ monitor_id: string; entity_id: string }>({ monitor_id: 1, entity_id: 1 })
        .toArray();
      const mine = found.filter(({ entity_id }) => entityIds.has(entity_id));
      const reported = new Set(mine.map(({ monitor_id }) => monitor_id)).size;
      return { missed: expected - reported, doubled: mine.length - reported, others: found.length - mine.length };
    };
  }

  return {
    /** Returns the size of what is stored, in megabytes. */
    async addMonitors(count: number): Promise<number> {
      const before = await keptMb(databases);
      const newOrganizations = () => Array.from({ length: Math.ceil(count / PER_ORGANIZATION) }, () => newId("org"));
      const passes: string[][] = [];
      const organizationId = (index: number, pass: number) => {
        passes[pass] ??= newOrganizations();
        return passes[pass][index % passes[pass].length]!;
      };
      const from = new Date(clock.at.getTime() + 1);
      await insertStanding({ count, organizationId, from, vendors, entities, databases });
      await positions.start("daily", clock.at);
      return (await keptMb(databases)) - before;
    },

    /** Lets a day pass, at whose beginning a file is loaded. */
    async day(file: string, changedUeis: readonly string[]) {
      log(`a day after ${file} ...`);
      const idlePerMs = await idleCommandsPerMs(client);
      const result = await resultOf(changedUeis, new Date());
      seen.announced = 0;
      const [ranBefore, kept] = [await runs.countDocuments(), await keptMb(databases)];
      const began = clock.at;
      await runLoader({ kind: "registry", file, environment, log });
      const [commands, startedAt] = [await commandsOf(client), performance.now()];
      await until(() => seen.announced >= changedUeis.length);
      const count = await monitors.estimatedDocumentCount();
      const rounds = Math.min(MAX_ROUNDS, Math.ceil(count / PER_ROUND));
      for (let index = 1; index <= rounds; index++) {
        clock.at = new Date(began.getTime() + Math.round((index / rounds) * DAY_MS) + MARGIN_MS);
        while (await sweep());
        await claimDue();
        // A virtual round is over faster than its runs, which last no round in truth: a monitor due meanwhile would run again.
        await until(() => seen.ended >= seen.claimed);
      }
      await until(async () => {
        await claimDue();
        return seen.ended >= seen.claimed && (await domain.store.oldestDueAt(clock.at)) === undefined;
      });
      await eventually(async () => (await result()).missed === 0, { timeoutMs: LATE_MS }).catch(() => undefined);
      clock.at = new Date(began.getTime() + DAY_MS);
      const elapsedMs = performance.now() - startedAt;
      const used = (await commandsOf(client)) - commands - idlePerMs * elapsedMs;
      const ended = {
        ...(await result()),
        runs: (await runs.countDocuments()) - ranBefore,
        keptMb: (await keptMb(databases)) - kept,
        commands: used,
      };
      log(`the day ended: ${JSON.stringify(ended)}`);
      return ended;
    },

    /** Makes the checks of a day again, all at once. */
    async sweepAgain(): Promise<Figures> {
      const position = (await positions.readAll()).get("daily")!;
      const back = new Date(position.swept_to.getTime() - DAY_MS);
      await positions.move(position, { ...position, swept_to: back, confirmed_to: back });
      const { pid } = await client.db("admin").command({ serverStatus: 1 });
      const pids = [process.pid, Number(pid), stack.pids.entity, stack.pids.verification];
      const before = pids.map(cpuMsOf);
      seen.checked = 0;
      const startedAt = performance.now();
      while (await sweep());
      const seconds = (performance.now() - startedAt) / 1_000;
      const [own, mongod, entity, judging] = pids.map((each, index) => (cpuMsOf(each) - before[index]!) / seen.checked);
      return {
        day_sweep_per_second: round(seen.checked / seconds, 0),
        day_sweep_cpu_ms: round(own! + mongod! + entity! + judging!, 3),
        day_sweep_cpu_ms_of_verification: round(judging!, 3),
        day_sweep_cpu_ms_of_entity: round(entity!, 3),
        day_sweep_cpu_ms_of_mongodb: round(mongod!, 3),
      };
    },
  };
}

/** Returns how many commands MongoDB has had. */
async function commandsOf(client: MongoClient): Promise<number> {
  const { metrics } = await client.db("admin").command({ serverStatus: 1 });
  const counts = Object.values(metrics.commands as Record<string, { total?: number | bigint }>);
  return counts.reduce((sum, { total = 0 }) => sum + Number(total), 0);
}

/** Returns how many commands come in a millisecond while nothing is due. */
async function idleCommandsPerMs(client: MongoClient): Promise<number> {
  const [before, startedAt] = [await commandsOf(client), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return ((await commandsOf(client)) - before) / (performance.now() - startedAt);
}

/** Returns the size of data and indexes, in megabytes. Indexes grow when a checkpoint is written, so one is written first. */
async function keptMb(databases: Readonly<Record<string, Db>>): Promise<number> {
  const [any] = Object.values(databases);
  await any!.client.db("admin").command({ fsync: 1 });
  const sizes = await Promise.all(Object.values(databases).map((db) => db.stats()));
  return sizes.reduce((sum, { dataSize, indexSize }) => sum + dataSize + indexSize, 0) / 1_000_000;
}
