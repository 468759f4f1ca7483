import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import type { Attempter } from "../attempt/attempt.ts";
import type { SigningSecretCache } from "../attempt/signing-secrets.ts";
import { isFree } from "../endpoints/circuit.ts";
import { type EndpointIdentity, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { Delivery } from "../model/delivery.ts";
import type { AttemptResult } from "../model/retry-schedule.ts";
import { heldUntil } from "../model/retry-schedule.ts";
import { nextLimit } from "./concurrency.ts";
import type { DueSignals } from "./due-signals.ts";
import type { MonitorOrder } from "./monitor-order.ts";
import { createQueue, type Entry, type Priority } from "./queue.ts";
import type { Recorder } from "./recorder.ts";
import type { Slot, Slots } from "./slots.ts";
import { blocked, type DeliveryStore, type Postponement } from "./store.ts";
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
/** A delivery that one of our own faults stopped is due again after this long, or later the longer its secrets fail. */
const OUR_FAULT_DELAY_MS = 1_000;
const LONGEST_FAULT_DELAY_MS = 30_000;

/** How a leased delivery is to be attempted. */
export interface Addition {
  readonly priority: Priority;
  /** It is the probe of an open circuit. */
  readonly probe?: boolean;
  /** The store has it as the first event of its monitor. */
  readonly isHead?: boolean;
}

export type Engine = ReturnType<typeof createEngine>;

/** Attempts the deliveries that this replica has leased, with a fair share for every organization and endpoint. */
export function createEngine(options: {
  attempt: Attempter;
  endpoints: Pick<EndpointCache, "get" | "observe" | "onCircuitChange">;
  secrets: SigningSecretCache;
  recorder: Recorder;
  store: Pick<DeliveryStore, "postpone">;
  order: MonitorOrder<Entry>;
  signals: Pick<DueSignals, "wake" | "noteHeld" | "noteRetry">;
  unblocker: Pick<Unblocker, "unblockNext">;
  slots: Slots;
  /** Maximum number of attempts in flight to one URL. */
  limitPerUrl: number;
  /** Longest duration of an attempt, in milliseconds. */
  timeoutMs: number;
  logger: Logger;
  now: () => Date;
}) {
  const { endpoints, secrets, recorder, order, signals, unblocker, slots, store, logger, now, timeoutMs } = options;
  const queue = createQueue({ hasSlot: slots.hasOne });
  const running = new Set<Promise<void>>();
  /** Resolves when the queue is not full. */
  let room = Promise.withResolvers<void>();
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
      while (!stopped && !secrets.isUnavailable() && recorder.unrecorded() < MAX_UNRECORDED) {
        const entry = queue.next();
        if (!entry) break;
        if (isTooLate(entry, now().getTime())) release([entry]);
        else begin(entry);
      }
      if (queue.size() >= QUEUE_FULL) return;
      room.resolve();
      room = Promise.withResolvers();
    });
  }

  /** `stop` waits for it. */
  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  const begin = (entry: Entry) => track(deliver(entry, slots.take(entry.target)));

  async function deliver(entry: Entry, slot: Slot): Promise<void> {
    const { target } = entry;
    const result = await attempt(entry);
    const { inFlight } = target;
    slots.free(slot);
    queue.freed(target);
    pump();
    if (result) await record(entry, result, inFlight);
    else release([entry], new Date(now().getTime() + faultDelayMs(target.organization_id)));
  }

  function faultDelayMs(organizationId: string): number {
    return Math.min(Math.max(OUR_FAULT_DELAY_MS, secrets.failingMs(organizationId)), LONGEST_FAULT_DELAY_MS);
  }

  /** Returns undefined if there was no attempt because of one of our own faults, which is logged. */
  async function attempt({ delivery, target }: Entry): Promise<AttemptResult | undefined> {
    const signing = await secrets.secretsOf(target.organization_id);
    if (!signing) return undefined;
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
    const seen = { startedAt: started_at, endedAt, error, statusCode: status_code, probe, test: delivery.test };
    endpoints.observe(target, seen);
    if (result.outcome.status === "pending") signals.noteRetry(result.outcome.nextAttemptAt, endedAt);
    target.limit = nextLimit(target.limit, result.attempt, { inFlight, max: options.limitPerUrl });
    if (!delivery.first_attempt_owed) return recorder.record(result);
    const next = order.finish(delivery.monitor_id, entry);
    const isHandedOver = stopped;
    if (next && !isHandedOver) queue.add(next);
    await recorder.record(result);
    if (next && isHandedOver) release([next], now());
    if (!next && order.hasStored(delivery.monitor_id)) unblocker.unblockNext(delivery.monitor_id);
  }

  /** Puts leased deliveries back, due at `dueAt` or else held; the events behind them become blocked in the store. */
  function release(entries: readonly Entry[], dueAt?: Date): void {
    const postponements: Postponement[] = [];
    for (const entry of entries) {
      const { delivery, target } = entry;
      const behind = delivery.first_attempt_owed ? order.removeFrom(delivery.monitor_id, entry).slice(1) : [];
      postponements.push(...behind.map((each) => blocked(each.delivery)));
      postponements.push({ delivery, nextAttemptAt: dueAt ?? heldUntil(delivery.due_at, now()), held: !dueAt });
      if (!dueAt) signals.noteHeld(target);
    }
    postpone(postponements);
  }

  function postpone(postponements: readonly Postponement[]): void {
    if (postponements.length === 0) return;
    const postponed = store.postpone(postponements).then(() => {
      // The events before a blocked one may have ended meanwhile.
      for (const { delivery, nextAttemptAt } of postponements)
        if (nextAttemptAt === null) unblocker.unblockNext(delivery.monitor_id);
    });
    const failed = (err: unknown) =>
      logger.warn({ err, count: postponements.length }, "leases could not be released; they expire");
    track(postponed.catch(failed));
  }

  /** Releases what fits of the deliveries whose attempts have not begun, and the events behind them. */
  function releaseIf(fits: (entry: Entry) => boolean, dueAt?: Date): void {
    release(queue.removeIf(fits), dueAt);
    const removed = order
      .waiting()
      .filter(fits)
      .flatMap((entry) => order.removeFrom(entry.delivery.monitor_id, entry));
    postpone(removed.map(({ delivery }) => blocked(delivery)));
  }

  /** Releases deliveries that waited so long that an attempt could outlast their lease. */
  function releaseLate(): void {
    const at = now().getTime();
    releaseIf((entry) => isTooLate(entry, at));
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
    /** Returns how many more deliveries to an endpoint may be leased; 0 while its circuit or its host's limit holds them. */
    roomFor(identity: EndpointIdentity): number {
      const target = queue.target(identity);
      if (secrets.isUnavailable() || !isFree(endpoints.get(identity).circuit, now())) return 0;
      if (!slots.hostHasRoom(target.parsedUrl, target.organization_id)) return 0;
      const queued = queue.queuedFor(target);
      if (slots.isSuspect(target)) return Math.max(0, target.limit - target.inFlight - queued);
      return Math.max(0, (slots.isUnknown(target) ? QUEUE_PER_UNKNOWN : QUEUE_PER_ENDPOINT) - queued);
    },

    /** Queues a leased delivery. */
    add(delivery: Delivery, { priority, probe = false, isHead = false }: Addition): void {
      const entry: Entry = { delivery, target: queue.target(endpointOf(delivery)), priority, probe };
      if (stopped) {
        postpone([{ delivery, nextAttemptAt: delivery.due_at, held: false }]);
        return;
      }
      if (delivery.first_attempt_owed && isHead) order.prepend(delivery.monitor_id, entry);
      else if (delivery.first_attempt_owed) {
        const place = order.append(delivery.monitor_id, entry);
        if (place === "refused") postpone([blocked(delivery)]);
        if (place !== "head") return;
      }
      queue.add(entry);
      pump();
    },

    /** Puts back what is queued of monitors whose URL has changed: it is claimed again with the new one. */
    releaseOf(monitorIds: ReadonlySet<string>): void {
      releaseIf(({ delivery }) => monitorIds.has(delivery.monitor_id) && !delivery.test, now());
    },

    /** Resolves when further events may be accepted: when the queue has room, or after `maxWaitMs`. */
    async waitForRoom(maxWaitMs: number): Promise<void> {
      if (queue.size() >= QUEUE_FULL) await Promise.race([room.promise, wait(maxWaitMs)]);
    },

    /** Returns the number of leased deliveries that wait for a slot. */
    queued: queue.size,

    /** Begins nothing more, releases what is queued, and resolves when all attempts are recorded. */
    async stop(): Promise<void> {
      stopped = true;
      const queued = queue.removeIf(() => true);
      release(queued, now());
      while (running.size > 0) await Promise.all(running);
      clearInterval(timer);
    },
  };
}
