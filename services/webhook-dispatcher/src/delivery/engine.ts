import type { Logger } from "@vvs/logging";
import type { Attempter } from "../attempt/attempt.ts";
import type { SigningSecretCache } from "../attempt/signing-secrets.ts";
import { isFree } from "../endpoints/circuit.ts";
import { type EndpointIdentity, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import { nextLimit } from "./concurrency.ts";
import type { Delivery } from "./delivery.ts";
import type { DueSignals } from "./due-signals.ts";
import { heldUntil } from "./hold.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import type { Pool } from "./pools.ts";
import { createQueue, type Entry, type Priority } from "./queue.ts";
import type { Recorder } from "./recorder.ts";
import { createSlots, type Slot } from "./slots.ts";
import type { AttemptResult, DeliveryStore, Release } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

const TICK_MS = 100;
/** Expired leases are looked for once in this many ticks. */
const TICKS_PER_LEASE_CHECK = 10;
/** An attempt begins only while its lease covers it to the end, with this long to spare for recording it. */
const RECORDING_MS = 2_000;
/** Maximum number of unrecorded attempts: beyond it none is begun until the store catches up. */
const MAX_UNRECORDED = 2_000;
/** Maximum number of queued deliveries for one endpoint that answers well; the rest is held in the store. */
const QUEUE_PER_ENDPOINT = 256;
/** The same for an endpoint that has never answered. */
const QUEUE_PER_UNKNOWN = 16;
/** While this many deliveries are queued, no further events are accepted, for a moment. */
const QUEUE_FULL = 1_000;
/** A delivery that one of our own faults stopped is due again after this long. */
const OUR_FAULT_DELAY_MS = 1_000;

export interface EngineOptions {
  readonly attempt: Attempter;
  readonly endpoints: Pick<EndpointCache, "get" | "observe" | "onCircuitChange">;
  readonly secrets: SigningSecretCache;
  readonly recorder: Recorder;
  readonly store: Pick<DeliveryStore, "release">;
  readonly order: MonitorOrder<Entry>;
  readonly signals: Pick<DueSignals, "wake" | "noteHeld">;
  readonly unblocker: Pick<Unblocker, "unblockNext">;
  /** Slots for attempts that are expected to end soon, and for those that are or may be slow. */
  readonly pools: { readonly fast: Pool; readonly slow: Pool };
  /** Maximum number of attempts in flight to one URL. */
  readonly limitPerUrl: number;
  /** Longest duration of an attempt, in milliseconds. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** How a leased delivery is to be attempted. */
export interface Addition {
  readonly priority: Priority;
  /** It is the probe of an open circuit. */
  readonly probe?: boolean;
  /** The store has it as the first event of its monitor. */
  readonly isHead?: boolean;
}

/** Attempts the deliveries that this replica has leased, with a fair share for every organization and endpoint. */
export interface Engine {
  /** Returns how many more deliveries to an endpoint may be leased; 0 while its circuit holds them. */
  roomFor(identity: EndpointIdentity): number;
  /** Is there a slot for an attempt that may no longer be held? */
  hasSlowRoom(organizationId: string): boolean;
  /** Queues a leased delivery. */
  add(delivery: Delivery, how: Addition): void;
  /** Resolves when further events may be accepted: when the queue has room, or after `maxWaitMs`. */
  waitForRoom(maxWaitMs: number): Promise<void>;
  /** Attempts in flight, by pool. */
  inFlight(): { fast: number; slow: number };
  /** Number of leased deliveries that wait for a slot. */
  queued(): number;
  /** Begins nothing more, releases what is queued, and resolves when all attempts are recorded. */
  stop(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const { endpoints, secrets, recorder, order, signals, unblocker, pools, store, logger, now, timeoutMs } = options;
  const slots = createSlots(options);
  const queue = createQueue({ hasSlot: slots.hasOne, limit: options.limitPerUrl });
  const running = new Set<Promise<void>>();
  const roomWaiters: (() => void)[] = [];
  let stopped = false;
  let pumping = false;

  /** An attempt that begins now could outlast its lease. */
  const isTooLate = ({ delivery }: Entry, at: number) =>
    at > delivery.next_attempt_at!.getTime() - timeoutMs - RECORDING_MS;

  /** Begins attempts, as many as there are slots. */
  function pump(): void {
    if (pumping) return;
    pumping = true;
    queueMicrotask(() => {
      pumping = false;
      while (!stopped && !secrets.isUnavailable() && recorder.waiting < MAX_UNRECORDED) {
        const entry = queue.next();
        if (!entry) break;
        if (isTooLate(entry, now().getTime())) release([entry]);
        else begin(entry);
      }
      if (queue.size < QUEUE_FULL) for (const admit of roomWaiters.splice(0)) admit();
    });
  }

  function begin(entry: Entry): void {
    const run = deliver(entry, slots.take(entry.target)).finally(() => running.delete(run));
    running.add(run);
  }

  async function deliver(entry: Entry, slot: Slot): Promise<void> {
    const { target } = entry;
    const result = await attempt(entry);
    const { inFlight } = target;
    slots.free(slot);
    queue.freed(target);
    pump();
    if (result) await record(entry, result, inFlight);
    else release([entry], new Date(now().getTime() + OUR_FAULT_DELAY_MS));
  }

  /** Returns undefined where there was no attempt because of one of our own faults, which is logged. */
  async function attempt({ delivery, target }: Entry): Promise<AttemptResult | undefined> {
    let signing = secrets.secretsOf(target.organization_id);
    if (signing instanceof Promise) {
      const loaded = await signing.catch(() => undefined);
      if (!loaded) return undefined;
      signing = loaded;
    }
    try {
      return await options.attempt(delivery, target.parsedUrl, signing);
    } catch (err) {
      logger.error({ err, delivery_id: delivery._id }, "an attempt could not be made; retrying");
      return undefined;
    }
  }

  async function record(entry: Entry, result: AttemptResult, inFlight: number): Promise<void> {
    const { delivery, target, probe } = entry;
    const { started_at, duration_ms, status_code, error } = result.attempt;
    const endedAt = new Date(started_at.getTime() + duration_ms);
    endpoints.observe(target, { startedAt: started_at, endedAt, error, statusCode: status_code, probe });
    target.limit = nextLimit(target.limit, {
      delivered: error === undefined,
      durationMs: duration_ms,
      statusCode: status_code,
      inFlight,
      max: options.limitPerUrl,
    });
    if (!delivery.first_attempt_owed) return recorder.record(result);
    const next = order.finishFirst(delivery.monitor_id);
    if (next) queue.add(next);
    await recorder.record(result);
    if (!next && order.hasStored(delivery.monitor_id)) unblocker.unblockNext(delivery.monitor_id);
  }

  /** Puts leased deliveries back, due at `dueAt` or else held; the events behind them become blocked in the store. */
  function release(entries: readonly Entry[], dueAt?: Date): void {
    const releases: Release[] = [];
    for (const entry of entries) {
      const { delivery, target } = entry;
      const behind = delivery.first_attempt_owed ? order.removeFrom(delivery.monitor_id, entry).slice(1) : [];
      for (const each of behind) releases.push(asBlocked(each.delivery));
      releases.push({ delivery, nextAttemptAt: dueAt ?? heldUntil(delivery.due_at, now()), held: !dueAt });
      if (!dueAt) signals.noteHeld(target);
    }
    storeReleases(releases);
  }

  const asBlocked = (delivery: Delivery): Release => ({ delivery, nextAttemptAt: null, held: false });

  function storeReleases(releases: readonly Release[]): void {
    if (releases.length === 0) return;
    const released = store.release(releases).then(() => {
      // The events before a blocked one may have ended meanwhile.
      for (const { delivery, nextAttemptAt } of releases)
        if (nextAttemptAt === null) unblocker.unblockNext(delivery.monitor_id);
    });
    released.catch((err) => {
      logger.warn({ err, count: releases.length }, "leases could not be released; they expire");
    });
  }

  /** Releases what waited so long that an attempt could outlast its lease, and the events behind it. */
  function releaseLate(): void {
    const at = now().getTime();
    release(queue.removeIf((entry) => isTooLate(entry, at)));
    const releases: Release[] = [];
    for (const entry of [...order.waiting()].filter((each) => isTooLate(each, at)))
      for (const { delivery } of order.removeFrom(entry.delivery.monitor_id, entry)) releases.push(asBlocked(delivery));
    storeReleases(releases);
  }

  /** An open circuit holds everything but what is urgent. */
  function onCircuitChange(identity: EndpointIdentity): void {
    const target = queue.target(identity);
    if (endpoints.get(identity).circuit.state === "open") {
      target.limit = 1;
      release(queue.removeIf((entry) => entry.target === target && entry.priority !== "urgent"));
    }
    signals.wake();
  }

  let ticks = 0;
  const timer = setInterval(() => {
    slots.markSlow();
    if (ticks++ % TICKS_PER_LEASE_CHECK === 0) releaseLate();
    queue.reviveAll();
    pump();
  }, TICK_MS);
  timer.unref();
  endpoints.onCircuitChange(onCircuitChange);
  secrets.onAvailable(pump);

  return {
    roomFor(identity) {
      const target = queue.target(identity);
      if (secrets.isUnavailable() || !isFree(endpoints.get(identity).circuit, now())) return 0;
      const queued = queue.queuedFor(target);
      if (slots.isSuspect(target)) return Math.max(0, target.limit - target.inFlight - queued);
      const allowed = slots.isUnknown(target) ? QUEUE_PER_UNKNOWN : QUEUE_PER_ENDPOINT;
      return Math.max(0, allowed - queued);
    },
    hasSlowRoom: (organizationId) => pools.slow.hasRoom(organizationId),
    add(delivery, { priority, probe = false, isHead = false }) {
      const entry: Entry = { delivery, target: queue.target(endpointOf(delivery)), priority, probe };
      if (stopped) return storeReleases([{ delivery, nextAttemptAt: delivery.due_at, held: false }]);
      if (delivery.first_attempt_owed && isHead) order.prepend(delivery.monitor_id, entry);
      else if (delivery.first_attempt_owed) {
        const place = order.append(delivery.monitor_id, entry);
        if (place === "refused") storeReleases([asBlocked(delivery)]);
        if (place !== "head") return;
      }
      queue.add(entry);
      pump();
    },
    waitForRoom(maxWaitMs) {
      if (queue.size < QUEUE_FULL) return Promise.resolve();
      return new Promise((resolve) => {
        const late = setTimeout(resolve, maxWaitMs);
        roomWaiters.push(() => {
          clearTimeout(late);
          resolve();
        });
      });
    },
    inFlight: () => ({ fast: pools.fast.taken, slow: pools.slow.taken }),
    queued: () => queue.size,
    async stop() {
      stopped = true;
      release(
        queue.removeIf(() => true),
        now(),
      );
      while (running.size > 0) await Promise.all(running);
      await recorder.idle();
      clearInterval(timer);
    },
  };
}
