import type { Logger } from "@vvs/logging";
import type { Attempter } from "./attempt.ts";
import { isFree } from "./circuit.ts";
import { nextLimit } from "./concurrency.ts";
import type { Delivery } from "./delivery.ts";
import type { EndpointBook, EndpointIdentity } from "./endpoint-book.ts";
import { heldUntil } from "./hold.ts";
import type { Lanes } from "./lanes.ts";
import type { Pool } from "./pools.ts";
import { createQueue, type Entry, type Kind } from "./queue.ts";
import type { Recorder } from "./recorder.ts";
import type { Signing } from "./signing.ts";
import { createSlots, type Slot } from "./slots.ts";
import type { DeliveryStore, Made, Release } from "./store.ts";

const TICK_MS = 100;
/** An attempt begins only while its lease covers it to the end, with so much to spare for recording it. */
const RECORDING_MS = 2_000;
/** With so many attempts unrecorded none is begun: the store must catch up first. */
const MAX_UNRECORDED = 2_000;
/** Deliveries in hand for one endpoint that answers well; what is more is held back in the store. */
const QUEUE_PER_ENDPOINT = 256;
const QUEUE_PER_UNKNOWN = 16;
/** With so many in hand no further events are taken over, for a moment. */
const QUEUE_FULL = 1_000;
/** What our own faults put off is due again so much later. */
const OUR_FAULT_DELAY_MS = 1_000;

export interface EngineOptions {
  readonly attempt: Attempter;
  readonly book: EndpointBook;
  readonly signing: Signing;
  readonly recorder: Recorder;
  readonly store: Pick<DeliveryStore, "release">;
  readonly lanes: Lanes<Entry>;
  /** Slots of attempts that are expected to be over soon, and of those that are slow or may be. */
  readonly pools: { readonly fast: Pool; readonly slow: Pool };
  readonly limitPerUrl: number;
  readonly timeoutMs: number;
  /** Deliveries to it were put back into the store, held. */
  readonly onHeld: (identity: EndpointIdentity) => void;
  /** The monitor's first attempts in hand are recorded; others may wait in the store. */
  readonly onLaneEnded: (monitorId: string) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** How a delivery comes into hand. */
export interface Addition {
  readonly kind: Kind;
  /** Of an open circuit. */
  readonly probe?: boolean;
  /** The store said that it is its monitor's first. */
  readonly laneHead?: boolean;
}

/** Makes the attempts of the deliveries that this replica has leased, in fair turns. */
export interface Engine {
  /** How many more deliveries to an endpoint may be taken in hand; 0 while its circuit holds them back. */
  roomFor(identity: EndpointIdentity): number;
  /** Is there a slot for an attempt that its endpoint can't hold back any longer? */
  hasSlowRoom(organizationId: string): boolean;
  add(delivery: Delivery, how: Addition): void;
  /** An endpoint's circuit changed. */
  onCircuit(identity: EndpointIdentity): void;
  /** Goes on, after something that held everything up. */
  pump(): void;
  /** Resolves when further events may be taken over: soon, also if not much is done meanwhile. */
  hasRoom(maxWaitMs: number): Promise<void>;
  inFlight(): { fast: number; slow: number };
  queued(): number;
  /** Begins nothing more, gives back what it has, and resolves when all attempts are recorded. */
  stop(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const { book, signing, recorder, lanes, pools, store, logger, now, timeoutMs } = options;
  const slots = createSlots(options);
  const queue = createQueue({ hasSlot: slots.hasOne, limit: options.limitPerUrl });
  const running = new Set<Promise<void>>();
  const roomWaiters: (() => void)[] = [];
  let stopped = false;
  let pumping = false;

  /** The last moment at which an attempt may begin under its lease. */
  const isTooLate = ({ delivery }: Entry, at: number) =>
    at > delivery.next_attempt_at!.getTime() - timeoutMs - RECORDING_MS;

  function pump(): void {
    if (pumping) return;
    pumping = true;
    queueMicrotask(() => {
      pumping = false;
      while (!stopped && !signing.isAway() && recorder.waiting < MAX_UNRECORDED) {
        const entry = queue.next();
        if (!entry) break;
        if (isTooLate(entry, Date.now())) giveBack([entry]);
        else begin(entry);
      }
      if (queue.size < QUEUE_FULL) for (const wake of roomWaiters.splice(0)) wake();
    });
  }

  function begin(entry: Entry): void {
    const run = make(entry, slots.take(entry.target)).finally(() => running.delete(run));
    running.add(run);
  }

  async function make(entry: Entry, slot: Slot): Promise<void> {
    const { target } = entry;
    const made = await attempt(entry);
    const { inFlight } = target;
    slots.free(slot);
    queue.freed(target);
    pump();
    if (made) await keep(entry, made, inFlight);
    else giveBack([entry], new Date(now().getTime() + OUR_FAULT_DELAY_MS));
  }

  /** Undefined: by a fault of ours, which was told of, there was none. */
  async function attempt({ delivery, target }: Entry): Promise<Made | undefined> {
    let secrets = signing.secretsOf(target.organization_id);
    if (secrets instanceof Promise) {
      const had = await secrets.catch(() => undefined);
      if (!had) return undefined;
      secrets = had;
    }
    try {
      return await options.attempt(delivery, target.parsedUrl, secrets);
    } catch (err) {
      logger.error({ err, delivery_id: delivery._id }, "an attempt could not be made; it is tried again");
      return undefined;
    }
  }

  async function keep({ delivery, target, probe }: Entry, made: Made, inFlight: number): Promise<void> {
    const { started_at, duration_ms, status_code, error } = made.attempt;
    const endedAt = new Date(started_at.getTime() + duration_ms);
    book.observe(target, { startedAt: started_at, endedAt, error, statusCode: status_code, probe });
    target.limit = nextLimit(target.limit, {
      delivered: error === undefined,
      durationMs: duration_ms,
      statusCode: status_code,
      inFlight,
      max: options.limitPerUrl,
    });
    if (!delivery.first_attempt_owed) return recorder.record(made);
    const next = lanes.leave(delivery.monitor_id);
    if (next) queue.add(next);
    await recorder.record(made);
    if (!next && lanes.isElsewhere(delivery.monitor_id)) options.onLaneEnded(delivery.monitor_id);
  }

  /** Puts leased deliveries back: held back, or due again at `dueAt`; those behind them in their lanes wait there. */
  function giveBack(entries: readonly Entry[], dueAt?: Date): void {
    const releases: Release[] = [];
    for (const entry of entries) {
      const { delivery, target } = entry;
      const behind = delivery.first_attempt_owed ? lanes.takeOut(delivery.monitor_id, entry).slice(1) : [];
      for (const each of behind) releases.push({ delivery: each.delivery, nextAttemptAt: null, held: false });
      releases.push({ delivery, nextAttemptAt: dueAt ?? heldUntil(delivery.due_at, now()), held: !dueAt });
      if (!dueAt) options.onHeld(target);
    }
    release(releases);
  }

  function release(releases: readonly Release[]): void {
    if (releases.length === 0) return;
    const released = store.release(releases).then(() => {
      // Those before them may have ended meanwhile.
      for (const { delivery, nextAttemptAt } of releases)
        if (nextAttemptAt === null) options.onLaneEnded(delivery.monitor_id);
    });
    released.catch((err) => {
      logger.warn({ err, count: releases.length }, "leases could not be given back; they end by themselves");
    });
  }

  /** Those that wait behind the first of their monitor for too long go back to the store, and all behind them. */
  function giveBackLate(): void {
    const at = Date.now();
    giveBack(queue.removeIf((entry) => isTooLate(entry, at)));
    const releases: Release[] = [];
    for (const entry of [...lanes.waiting()].filter((each) => isTooLate(each, at))) {
      for (const { delivery } of lanes.takeOut(entry.delivery.monitor_id, entry))
        releases.push({ delivery, nextAttemptAt: null, held: false });
    }
    release(releases);
  }

  let ticks = 0;
  const timer = setInterval(() => {
    slots.markSlow();
    if (ticks++ % 10 === 0) giveBackLate();
    queue.reviveAll();
    pump();
  }, TICK_MS);
  timer.unref();

  return {
    roomFor(identity) {
      const target = queue.target(identity);
      if (signing.isAway() || !isFree(book.get(identity).circuit, now())) return 0;
      const queued = queue.queuedFor(target);
      if (slots.isSuspect(target)) return Math.max(0, target.limit - target.inFlight - queued);
      const allowed = slots.isUnknown(target) ? QUEUE_PER_UNKNOWN : QUEUE_PER_ENDPOINT;
      return Math.max(0, allowed - queued);
    },
    hasSlowRoom: (organizationId) => pools.slow.hasRoom(organizationId),
    add(delivery, { kind, probe = false, laneHead = false }) {
      const identity = {
        _id: delivery.endpoint_id,
        organization_id: delivery.organization_id,
        url: delivery.webhook_url,
      };
      const entry: Entry = { delivery, target: queue.target(identity), kind, probe };
      if (stopped) return release([{ delivery, nextAttemptAt: delivery.due_at, held: false }]);
      if (delivery.first_attempt_owed && laneHead) lanes.enterFirst(delivery.monitor_id, entry);
      else if (delivery.first_attempt_owed) {
        const place = lanes.enter(delivery.monitor_id, entry);
        if (place === "refused") release([{ delivery, nextAttemptAt: null, held: false }]);
        if (place !== "head") return;
      }
      queue.add(entry);
      pump();
    },
    onCircuit(identity) {
      const target = queue.target(identity);
      if (book.get(identity).circuit.state === "open") {
        target.limit = 1;
        giveBack(queue.removeIf((entry) => entry.target === target && entry.kind !== "urgent"));
      }
    },
    pump,
    hasRoom(maxWaitMs) {
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
      giveBack(
        queue.removeIf(() => true),
        now(),
      );
      while (running.size > 0) await Promise.all(running);
      await recorder.idle();
      clearInterval(timer);
    },
  };
}
