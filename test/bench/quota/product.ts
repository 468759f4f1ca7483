import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createAdmission } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import { CheckType } from "@vvs/proto/common/v1/common";
import { type VerificationRequested, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { toProtoTenant } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { createConcluder } from "../../../services/verification/src/checks/conclude.ts";
import { createVerifier } from "../../../services/verification/src/checks/verifier.ts";
import { createPutWatch } from "../../../services/verification/src/freshness/watches.ts";
import { defaultCircuitSettings } from "../../../services/verification/src/provider-health/circuit.ts";
import { createCircuitBreakers } from "../../../services/verification/src/provider-health/circuit-breakers.ts";
import { ProviderError } from "../../../services/verification/src/providers/provider.ts";
import { createSamGovClient } from "../../../services/verification/src/providers/sam-gov/client.ts";
import type { SamGovApi } from "../../../services/verification/src/providers/sam-gov/sam-gov-api.ts";
import {
  migrateQueue,
  type PublicAnswer,
  type QueueCollections,
  queueCollections,
} from "../../../services/verification/src/questions/documents.ts";
import { migrateWatches, watchCollections } from "../../../services/verification/src/questions/watch-documents.ts";
import { freshPriorities } from "../../../services/verification/src/questions/watch-frequency.ts";
import { createMonitorRuns } from "../../../services/verification/src/runs/monitor-runs.ts";
import { createVerifyRun } from "../../../services/verification/src/runs/verify-run.ts";
import { createAskedProvider } from "../../../services/verification/src/sam-gov-queue/asked-provider.ts";
import { createSamGovQueue } from "../../../services/verification/src/sam-gov-queue/queue.ts";
import { ueiOf } from "../registry/identifiers.ts";
import type { Clock } from "./clock.ts";
import { idOf, type Monitors, monitorOf } from "./monitors.ts";
import type { Population } from "./population.ts";
import type { Recorder } from "./recorder.ts";
import type { Rule } from "./rule.ts";
import type { SimulatedSamGov } from "./sam-gov.ts";
import { entityOf, subjectOf, vendorOf } from "./subjects.ts";

/** How long a question waits for others, in milliseconds: the product's default. */
const GATHER_MS = 600_000;
/** The shortest time between two rounds of the queue, in milliseconds. */
const ROUND_MS = 1_000;
/** Number of records that are handled, and of parked runs that are verified, at the same time. */
const AT_ONCE = 32;
/** Number of watches that are noted at the same time: two full transactions. */
const WATCHES_AT_ONCE = 200;
const MONITORS_OF_AN_ORGANIZATION = 10_000;
const PROVIDER = "sam_gov_api";
const NO_LIMIT_MS = 3_600_000;

export type Product = Awaited<ReturnType<typeof createProduct>>;

/**
 * Creates the product's part that answers runs: its handler of requested runs, rules, queue, circuit breaker and counts of
 * calls, with the real database, as one replica on the simulated clock. The entity service answers from the simulated files,
 * SAM.gov is simulated, and verifications are reported instead of being stored.
 */
export async function createProduct(options: {
  client: MongoClient;
  db: Db;
  population: Population;
  rule: Rule;
  samGov: SimulatedSamGov;
  quota: number;
  clock: Clock;
  recorder: Recorder;
  logger: Logger;
}) {
  const { client, db, population, samGov, clock, recorder, logger } = options;
  const { now } = clock;
  await migrateQueue(db);
  await db.createCollection("provider_calls");
  await migrateWatches(db);
  const collections = { ...queueCollections(db), ...watchCollections(db) };
  /** When each waiting run was parked, by monitor. */
  const parkedAt = new Map<number, number>();
  const verifyRun = createVerifying({
    ...options,
    collections,
    onVerified(monitor, outcome) {
      const since = parkedAt.get(monitor);
      const moment = now().getTime();
      if (since === undefined) recorder.answered(monitor, outcome, moment);
      else recorder.resumed(monitor, outcome, { parkedAt: since, moment });
      parkedAt.delete(monitor);
    },
  });

  const accounts = { [PROVIDER]: { fingerprint: "benchmark", quota: options.quota } };
  const settings = defaultCircuitSettings;
  const breakers = createCircuitBreakers({ db, settings, accounts, now, logger, storeMs: NO_LIMIT_MS });
  const clientOf = (callClass: "direct" | "runs") =>
    createSamGovClient({
      http: {
        async call(call) {
          await breakers.takeCall(PROVIDER, callClass);
          return samGov.answer(callClass, call);
        },
      },
      baseUrl: "https://sam.gov",
      entityVersion: "v3",
      apiKey: "benchmark",
      now,
      logger,
    });
  const direct = clientOf("direct");
  const putWatch = createPutWatch({ client, collections });
  const queue = createSamGovQueue({
    client,
    collections,
    samGov: { runsClient: clientOf("runs") } as SamGovApi,
    provider: createAskedProvider({
      provider: { name: PROVIDER, check: "sam_registration" },
      breakers,
      counts: { count: () => undefined },
    }),
    verifyRun,
    wakeRow: async () => undefined,
    registry: options.rule.entities,
    subjects: { read: async (_tenant, entityId) => subjectOf(population, entityId) },
    putWatch,
    withdrawnLoads: async () => [],
    suspendedOrganizations: async () => [],
    outbox: { append: async () => undefined },
    topic: "benchmark",
    gatherMs: GATHER_MS,
    slots: { runs: AT_ONCE, tinRuns: 1 },
    owner: "bench",
    // The lease counts in real time.
    askerLeaseMs: NO_LIMIT_MS,
    resumeLeaseMs: NO_LIMIT_MS,
    now,
    logger,
  });
  const parking = queue.parking!;
  const handle = createMonitorRuns({
    environment: "live",
    store: { hasRun: async () => false },
    verifyRun,
    parking: {
      ...parking,
      async arrive(run) {
        const arrival = await parking.arrive(run);
        if (arrival !== "parked" && parkedAt.delete(monitorOf(run.run.monitorId))) recorder.superseded();
        return arrival;
      },
      async park(run, asking) {
        await parking.park(run, asking);
        parkedAt.set(monitorOf(run.run.monitorId), now().getTime());
        recorder.parked();
      },
    },
  });

  const runSeqs = new Map<number, number>();
  let refusedDirectly = 0;
  let answersSeen = new Date(0);

  return {
    /** Notes that daily monitors watch vendors, as the records of their states say. */
    async watch({ count, vendorOf: vendorOfMonitor }: Monitors): Promise<void> {
      const priority = freshPriorities.daily;
      const monitors = Array.from({ length: count }, (_, monitor) => monitor).values();
      const worker = async () => {
        for (const monitor of monitors) {
          const entityId = entityOf(vendorOfMonitor(monitor));
          const names = { monitorId: idOf(monitor), organizationId: organizationOf(monitor), entityId };
          await putWatch({ ...names, stateSeq: 1, vendor: subjectOf(population, entityId), priority });
        }
      };
      await Promise.all(Array.from({ length: WATCHES_AT_ONCE }, worker));
    },
    /** Stores the plan for the next day, and how fresh data is. */
    plan: queue.storePlan,
    /** Returns true where a run of the monitor waits. */
    isParked: (monitor: number) => parkedAt.has(monitor),
    /** Handles the records of due runs. */
    async request(due: readonly { monitor: number; vendor: number }[]): Promise<void> {
      const next = due.values();
      const worker = async () => {
        for (const { monitor, vendor } of next) {
          const runSeq = (runSeqs.get(monitor) ?? 1) + 1;
          runSeqs.set(monitor, runSeq);
          await handle(recordOf(monitor, vendor, runSeq, now()));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    },
    /** Asks, and verifies what is ready, until a moment: all rounds that the product makes until then. */
    async work(until: number): Promise<void> {
      for (;;) {
        const waitMs = await queue.ask();
        await queue.resume();
        const next = now().getTime() + Math.max(waitMs, ROUND_MS);
        if (next >= until) return;
        clock.set(next);
      }
    },
    /** Returns the answers that were kept since the last call, by vendor. */
    async newAnswers(): Promise<(readonly [vendor: number, answer: PublicAnswer])[]> {
      const projection = { bodies: 0 };
      const found = await collections.publicAnswers.find({ asked_at: { $gte: answersSeen } }, { projection }).toArray();
      answersSeen = now();
      return found.map((answer) => [vendorOf(population, answer._id.slice("uei:".length)), { ...answer, bodies: [] }]);
    },
    /** Makes a direct call about each of these vendors, at the same time. */
    async callDirectly(vendors: readonly number[]): Promise<void> {
      const called = vendors.map((vendor) =>
        direct.entities({ ueiSAM: [ueiOf(population.seed, vendor)] }, "Yes", NEVER),
      );
      for (const each of await Promise.allSettled(called)) {
        if (each.status === "fulfilled") continue;
        if (!(each.reason instanceof ProviderError)) throw each.reason;
        if (each.reason.reason === "quota_exhausted") refusedDirectly++;
      }
    },
    state: () => ({ waiting: parkedAt.size, refusedDirectly }),
    close: () => breakers.flush(),
  };
}

const NEVER = new AbortController().signal;

/** Creates the verification of a run by the rule. */
function createVerifying(options: {
  population: Population;
  rule: Rule;
  clock: Clock;
  collections: QueueCollections;
  onVerified: (monitor: number, outcome: string) => void;
  logger: Logger;
}) {
  const { population, rule, collections, onVerified, logger } = options;
  const { now } = options.clock;
  const revealTin = () => Promise.reject(new Error("no TIN is needed"));
  const subjects = { read: async (_tenant: unknown, entityId: string) => subjectOf(population, entityId) };
  const limits = { callMs: NO_LIMIT_MS, checkMs: NO_LIMIT_MS, attemptMs: NO_LIMIT_MS };
  const conclude = createConcluder({
    store: {
      async knownAnswers(_tenant, _key, _id) {
        const kept = _id === undefined ? null : await collections.publicAnswers.findOne({ _id });
        return { newest: null, kept: kept ?? undefined };
      },
    },
    withdrawnLoads: async () => new Set(),
    entities: { ...rule.entities, revealTin, recordTinMatch: revealTin },
    subjects,
    providers: { live: [rule.provider], sandbox: [] },
    tinTerms: () => Promise.reject(new Error("no TIN is asked about")),
    askWithinLimits: (_tenant, _guess, ask) => ask(),
    observe: () => (_provider, _callClass, attempt) => attempt(),
    limits,
    now,
  });
  const verifier = createVerifier({
    store: {
      async save(_tenant, { records: { verification } }) {
        const [result] = verification.results;
        onVerified(
          monitorOf(verification.run!.monitor_id),
          result!.status === "fail" ? result!.reason : result!.status,
        );
      },
    },
    facts: { forward: () => undefined },
    conclude,
    readExclusions: () => Promise.reject(new Error("no row is verified")),
    topicFor: () => "benchmark",
    onStored: () => undefined,
    limits,
    now,
    logger,
  });
  return createVerifyRun({ admit: createAdmission({ seats: 32 }), subjects, verifier });
}

function organizationOf(monitor: number): string {
  return `org_${Math.floor(monitor / MONITORS_OF_AN_ORGANIZATION)}`;
}

function recordOf(monitor: number, vendor: number, runSeq: number, at: Date): VerificationRequested {
  const monitorId = idOf(monitor);
  const tenant = { organizationId: organizationOf(monitor), environment: "live" } as const;
  return create(VerificationRequestedSchema, {
    recordId: `${monitorId}:${runSeq}`,
    tenant: toProtoTenant(tenant),
    run: { monitorId, runSeq: BigInt(runSeq) },
    entityId: entityOf(vendor),
    checks: [CheckType.SAM_REGISTRATION],
    requestedAt: timestampFromDate(at),
  });
}
