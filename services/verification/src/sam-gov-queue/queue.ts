import { context, propagation } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import type { Outbox } from "@vvs/outbox";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import { superviseLoop } from "@vvs/retry";
import type { MongoClient } from "mongodb";
import type { Subjects } from "../checks/subjects.ts";
import { countWatched } from "../freshness/count-watched.ts";
import { createFreshQuestions } from "../freshness/fresh-questions.ts";
import { createNoteAnswers } from "../freshness/note-answers.ts";
import type { Watch } from "../freshness/watches.ts";
import { createCopy } from "../own-data.ts";
import type { RegistryReader } from "../providers/sam-gov/registry-reader.ts";
import type { SamGovApi } from "../providers/sam-gov/sam-gov-api.ts";
import type { AskedProvider } from "../questions/asked.ts";
import type { ParkedRun, QueueCollections, QueueDay } from "../questions/documents.ts";
import { DAY_MS } from "../questions/rules.ts";
import type { WatchCollections } from "../questions/watch-documents.ts";
import type { ParkingPlace } from "../runs/monitor-runs.ts";
import type { RunSlots } from "../runs/run-consumers.ts";
import type { RequestedRun, VerifyRun } from "../runs/verify-run.ts";
import { createAskVendors } from "./ask-vendors.ts";
import { createAsker } from "./asker.ts";
import { CALL_MS, createAsking } from "./asking.ts";
import { readQueueNumbers } from "./numbers.ts";
import { createParkedRuns } from "./parked-runs.ts";
import { createQuestions } from "./questions.ts";
import { askedVendors, observeQueue } from "./queue-metrics.ts";
import { createResuming } from "./resuming.ts";
import { createSettle } from "./settle.ts";

/** How long an asker that died holds its lease, in milliseconds: longer than a call, before which it is renewed. */
const ASKER_LEASE_MS = 2 * CALL_MS;
/** How long a replica that died holds the runs that it claimed, in milliseconds: longer than their checks take. */
const RESUME_LEASE_MS = 90_000;
/** How often ready runs are looked for, in milliseconds. */
const RESUME_POLL_MS = 1_000;
/** How long runs wait where no replica can ask, in milliseconds; after it they end with what is known. */
const GIVE_UP_MS = 600_000;
/** Maximum age of the numbers that metrics show, in milliseconds. */
const NUMBERS_MS = 15_000;
/** How often the plan for tomorrow and the counts of watched vendors are stored, in milliseconds. */
const PLAN_MS = 600_000;

/** Settings of the queue in one process. */
export interface QueueSettings {
  /** How long a question waits for others to share a call with, in milliseconds. */
  readonly gatherMs: number;
  /** Maximum numbers of ready runs that are verified at the same time. */
  readonly slots: RunSlots;
  /** Unique name of this process. */
  readonly owner: string;
  /** Lease of the asker, in milliseconds; 40 s where absent. */
  readonly askerLeaseMs?: number;
  /** Lease of ready runs, in milliseconds; 90 s where absent. */
  readonly resumeLeaseMs?: number;
}

/**
 * Creates the queue of monitors' runs that wait for SAM.gov's API. All replicas share it: each parks runs and verifies
 * ready ones, and one of them asks. `samGov`: undefined where the API is not used; then no run is parked, and those that
 * were parked before end with what is known.
 */
export function createSamGovQueue(
  options: {
    client: MongoClient;
    collections: QueueCollections & WatchCollections;
    samGov: SamGovApi | undefined;
    provider: AskedProvider;
    verifyRun: VerifyRun;
    /** Lets a job's row go on that has waited. */
    wakeRow: (row: { readonly rowId: string; readonly organizationId: string }) => Promise<void>;
    registry: RegistryReader;
    subjects: Pick<Subjects, "read">;
    putWatch: (watch: Watch) => Promise<void>;
    outbox: Pick<Outbox, "append">;
    /** Returns the live loads that were withdrawn, all of them. */
    withdrawnLoads: () => Promise<readonly string[]>;
    /** Returns the ids of all suspended organizations. */
    suspendedOrganizations: () => Promise<readonly string[]>;
    /** Full name of the live topic registry.changed. */
    topic: string;
    now: () => Date;
    logger: Logger;
  } & QueueSettings,
) {
  const { client, collections, samGov, provider, gatherMs, owner, now, logger } = options;
  const fresh = createFreshQuestions(options);
  const noteAnswers = createNoteAnswers({ ...options, fileOf: fresh.fileOf });
  const parkedRuns = createParkedRuns({ client, collections });
  const asker = createAsker({ collections, owner, leaseMs: options.askerLeaseMs ?? ASKER_LEASE_MS });
  const stopping = new AbortController();
  const pollMs = Math.min(10_000, Math.max(500, gatherMs / 10));
  let isAsker = false;

  const parking: ParkingPlace = {
    async arrive({ recordId, tenant, run }) {
      const parked = await parkedRuns.of({ organization_id: tenant.organizationId, monitor_id: run.monitorId });
      if (!parked) return "new";
      if (parked._id === recordId || parked.run_seq > run.runSeq) return "parked";
      await parkedRuns.supersede(parked);
      return "superseding";
    },
    park: (run, asking) => parkedRuns.park({ run: documentOf(run, now()), asking }),
    leave: ({ tenant, run }) =>
      parkedRuns.leave({ organization_id: tenant.organizationId, monitor_id: run.monitorId, run_seq: run.runSeq }),
    leaveRows: parkedRuns.leaveRows,
  };

  async function resume(parked: ParkedRun): Promise<void> {
    if (parked.is_row) {
      await options.wakeRow({ rowId: parked._id, organizationId: parked.organization_id });
      await parkedRuns.remove(parked);
      return;
    }
    const complete: Parameters<VerifyRun>[1]["complete"] = (session) => parkedRuns.remove(parked, session);
    await options.verifyRun(runOf(parked), { began: performance.now(), mayAsk: false, complete });
    // Where the run had a verification already, nothing was completed.
    await parkedRuns.remove(parked);
  }

  const asking =
    samGov &&
    createAsking({
      questions: createQuestions(collections),
      askVendors: createAskVendors(samGov.runsClient),
      settle: createSettle({ client, collections, isAsker: asker.touch, noteAnswers }),
      fresh,
      provider,
      async mayAsk() {
        if ((await hold()) === undefined) return undefined;
        await storePlan();
        // With a million vendors that may have taken as long as the lease.
        return hold();
      },
      gatherMs,
      standByMs: pollMs,
      onAsked: (vendors) => askedVendors.add(vendors),
      now,
      logger,
    });

  async function hold(): Promise<number | undefined> {
    const term = stopping.signal.aborted ? undefined : await asker.hold();
    isAsker = term !== undefined;
    return term;
  }

  /** Where no replica asks, lets the runs that have waited too long end. */
  async function giveUp(): Promise<number> {
    if ((await asker.hold()) !== undefined) {
      await parkedRuns.giveUp(new Date(now().getTime() - GIVE_UP_MS));
      await asker.release();
    }
    return GIVE_UP_MS / 10;
  }

  const resuming = [false, true].map((withTin) =>
    createResuming({
      parkedRuns,
      owner,
      withTin,
      verify: resume,
      atOnce: withTin ? options.slots.tinRuns : options.slots.runs,
      pollMs: RESUME_POLL_MS,
      leaseMs: options.resumeLeaseMs ?? RESUME_LEASE_MS,
      isStopping: () => stopping.signal.aborted,
    }),
  );

  const numbers = createCopy({
    read: () => readQueueNumbers(collections, now()),
    maxAgeMs: NUMBERS_MS,
    clock: () => performance.now(),
  });

  let plannedAt = 0;
  /**
   * Stores tomorrow's planned calls and the counts of watched vendors, every few minutes, in the one process that asks, also
   * while it asks. Before it counts, it reads which organizations are suspended, and vendors whose registry file was withdrawn
   * become due.
   */
  async function storePlan(): Promise<void> {
    const counted_at = now();
    if (!isAsker || counted_at.getTime() - plannedAt < PLAN_MS) return;
    plannedAt = counted_at.getTime();
    const { callsPlannedTomorrow: planned_calls } = await readQueueNumbers(collections, counted_at);
    const today = startOfUtcDay(counted_at);
    await setOn(new Date(today.getTime() + DAY_MS), { planned_calls });
    await fresh.refresh();
    await setOn(today, { watched: { counted_at, by_frequency: await countWatched(collections, counted_at) } });
  }

  async function setOn(day: Date, $set: Pick<QueueDay, "planned_calls" | "watched">): Promise<void> {
    await collections.days.updateOne({ _id: utcDay(day) }, { $set, $setOnInsert: { day } }, { upsert: true });
  }

  return {
    /** Where runs are parked; undefined where the API is not used. */
    parking: samGov && parking,
    /** Makes the calls that are due, if this process is the asker. Returns how long to wait, in milliseconds. */
    ask: asking?.round ?? giveUp,
    /** Verifies the runs that are ready. */
    resume: () => Promise.all(resuming.map(({ round }) => round())),
    /** Stores how many calls are planned for tomorrow and how fresh data is, if this process is the asker. */
    storePlan,
    /** Starts all, and the metrics, until stopped. */
    start() {
      const stopObserving = observeQueue(numbers, now);
      const loops = [
        superviseLoop({
          round: async () => (asking ? Math.min(await asking.round(), pollMs) : giveUp()),
          failure: "SAM.gov can't be asked for monitors' runs; retrying",
          recovery: "SAM.gov is asked for monitors' runs again",
          stopping: stopping.signal,
          logger,
        }),
        ...resuming.map(({ round }) =>
          superviseLoop({
            round,
            failure: "runs that waited for SAM.gov can't be verified; retrying",
            recovery: "runs that waited for SAM.gov are verified again",
            backoff: { firstMs: 1_000, longestMs: 30_000 },
            stopping: stopping.signal,
            logger,
          }),
        ),
      ];
      return {
        /** Lets the rounds in progress end, and lets another process ask. */
        async stop(): Promise<void> {
          stopObserving();
          stopping.abort();
          await Promise.all(loops.map((loop) => loop.ended()));
          await asker.release();
        },
      };
    },
  };
}

function documentOf({ recordId, tenant, run, entityId, checks, requestedAt }: RequestedRun, parked_at: Date) {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return {
    _id: recordId,
    organization_id: tenant.organizationId,
    monitor_id: run.monitorId,
    run_seq: run.runSeq,
    entity_id: entityId,
    checks,
    ...(run.isRow && { is_row: true as const }),
    ...(requestedAt && { requested_at: requestedAt }),
    parked_at,
    ...(carrier.traceparent && { traceparent: carrier.traceparent }),
  };
}

function runOf({
  _id,
  organization_id,
  monitor_id,
  run_seq,
  entity_id,
  checks,
  requested_at,
}: ParkedRun): RequestedRun {
  return {
    recordId: _id,
    tenant: { organizationId: organization_id, environment: "live" },
    run: { monitorId: monitor_id, runSeq: run_seq, wasParked: true },
    entityId: entity_id,
    checks,
    requestedAt: requested_at,
  };
}
