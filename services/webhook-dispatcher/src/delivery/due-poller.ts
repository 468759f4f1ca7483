import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";
import type { SigningSecretCache } from "../attempt/signing-secrets.ts";
import { type EndpointIdentity, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { createAllowances } from "./allowance.ts";
import type { DueSignals } from "./due-signals.ts";
import type { Addition, Engine } from "./engine.ts";
import { heldUntil, isUrgent } from "./hold.ts";
import type { Priority } from "./queue.ts";
import type { Candidate, Deferral, DeliveryStore } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Pause between polls, in milliseconds: `wake` ends it earlier. */
const POLL_MS = 250;
/** The pause while more is due than one poll takes. */
const POLL_AGAIN_MS = 10;
/** Maximum number of due deliveries taken by one poll. */
const DUE_PER_POLL = 200;
/** While this many deliveries are queued in this replica, nothing is claimed. */
const MAX_QUEUED = 2_000;
/** Maximum number of endpoints with held deliveries looked at by one poll. */
const ENDPOINTS_PER_POLL = 64;
/** An urgent delivery for which there is no slot is due again after this long, ± 50 %. */
const NO_SLOT_DELAY_MS = 5_000;

export interface DuePollerOptions {
  readonly store: Pick<DeliveryStore, "due" | "held" | "claim" | "defer" | "monitorHeads">;
  readonly endpoints: Pick<EndpointCache, "get" | "load" | "claimProbe">;
  /** While no secrets can be had, nothing is claimed: it could not be sent. */
  readonly secrets: Pick<SigningSecretCache, "isUnavailable">;
  readonly engine: Pick<Engine, "roomFor" | "hasSlowRoom" | "add" | "queued">;
  readonly signals: DueSignals;
  readonly unblocker: Pick<Unblocker, "unblockNext">;
  readonly metrics: Pick<DeliveryMetrics, "leasesEnded">;
  /** Duration of a lease, in milliseconds. */
  readonly leaseMs: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Returns 0–1, evenly spread. */
  readonly random: () => number;
}

/**
 * Claims what is due in the store: retries, events that other replicas accepted, leases that ended, and held deliveries
 * for which their endpoint has room. `ended` resolves when the last poll has ended.
 */
export function runDuePoller(options: DuePollerOptions): { ended(): Promise<void> } {
  const { store, endpoints, engine, signals, now } = options;
  const allowances = createAllowances(options);

  /** Returns those that are owed a first attempt and are not the first of their monitor. */
  async function blockedOf(candidates: readonly Candidate[]): Promise<Set<Candidate>> {
    const owed = candidates.filter((each) => each.first_attempt_owed);
    if (owed.length === 0) return new Set();
    const heads = await store.monitorHeads([...new Set(owed.map(({ monitor_id }) => monitor_id))]);
    const first = new Set(heads.map(({ delivery_id }) => delivery_id));
    return new Set(owed.filter(({ _id }) => !first.has(_id)));
  }

  const isNowUrgent = (candidate: Candidate) => candidate.test || candidate.held || isUrgent(candidate.due_at, now());
  const byAttempt = (candidate: Candidate): Priority => (candidate.first_attempt_owed ? "first" : "retry");
  const priorityOf = (candidate: Candidate) => (isNowUrgent(candidate) ? "urgent" : byAttempt(candidate));

  const blocked = (candidate: Candidate): Deferral => ({ candidate, nextAttemptAt: null, held: false });

  async function defer(deferrals: readonly Deferral[]): Promise<void> {
    await store.defer(deferrals);
    // The events before a blocked one may have ended while it was written.
    for (const { candidate, nextAttemptAt } of deferrals)
      if (nextAttemptAt === null) options.unblocker.unblockNext(candidate.monitor_id);
  }

  /** Leases these for the engine, as far as no other replica has; returns how many. */
  async function claim(
    candidates: readonly Candidate[],
    how: (candidate: Candidate) => Omit<Addition, "isHead">,
  ): Promise<number> {
    const byId = new Map(candidates.map((each) => [each._id, each]));
    const leaseUntil = new Date(now().getTime() + options.leaseMs);
    const claimed = await store.claim(candidates, { now: now(), leaseUntil });
    for (const delivery of claimed) engine.add(delivery, { ...how(byId.get(delivery._id)!), isHead: true });
    return claimed.length;
  }

  /** Claims what is due and may be sent, and defers the rest. Returns whether more may be due. */
  async function claimDue(): Promise<boolean> {
    const candidates = await store.due(now(), DUE_PER_POLL);
    if (candidates.length === 0) return false;
    options.metrics.leasesEnded(candidates.filter(({ lease }) => lease !== undefined).length);
    await endpoints.load(candidates.map(endpointOf));
    const waiting = await blockedOf(candidates);
    const room = new Map<string, number>();
    const claimable: Candidate[] = [];
    const deferrals: Deferral[] = [];
    for (const candidate of candidates) {
      const identity = endpointOf(candidate);
      const left = room.get(identity._id) ?? engine.roomFor(identity);
      if (waiting.has(candidate)) deferrals.push(blocked(candidate));
      else if (isNowUrgent(candidate) && engine.hasSlowRoom(candidate.organization_id)) claimable.push(candidate);
      else if (isNowUrgent(candidate)) deferrals.push(withoutSlot(candidate));
      else if (left > 0) {
        room.set(identity._id, left - 1);
        claimable.push(candidate);
      } else {
        deferrals.push({ candidate, nextAttemptAt: heldUntil(candidate.due_at, now()), held: true });
        signals.noteHeld(identity);
      }
    }
    await defer(deferrals);
    await claim(claimable, (candidate) => ({ priority: priorityOf(candidate) }));
    return candidates.length === DUE_PER_POLL;
  }

  function withoutSlot(candidate: Candidate): Deferral {
    const delayMs = NO_SLOT_DELAY_MS * (0.5 + options.random());
    return { candidate, nextAttemptAt: new Date(now().getTime() + delayMs), held: true };
  }

  /** Claims held deliveries to an endpoint, as many as it may have now. Returns whether it may have more. */
  async function claimHeld(identity: EndpointIdentity): Promise<boolean> {
    const { count, probe } = allowances.of(identity);
    if (count <= 0) return false;
    const candidates = await store.held(identity._id, count);
    if (candidates.length < count) signals.noteNoneHeld(identity);
    if (candidates.length === 0) return false;
    const waiting = await blockedOf(candidates);
    await defer([...waiting].map(blocked));
    const ready = candidates.filter((candidate) => !waiting.has(candidate));
    if (ready.length === 0) return true;
    const probeUntil = new Date(now().getTime() + options.leaseMs);
    if (probe && !(await endpoints.claimProbe(identity, probeUntil))) return false;
    const claimed = await claim(ready, (candidate) => ({ priority: probe ? "urgent" : byAttempt(candidate), probe }));
    allowances.note(identity, claimed);
    return claimed > 0 && !probe;
  }

  async function claimAllHeld(): Promise<boolean> {
    let more = false;
    const next = signals.nextHeld(ENDPOINTS_PER_POLL);
    for (const identity of next) more = (await claimHeld(identity)) || more;
    return more || signals.heldCount > next.length;
  }

  async function poll(): Promise<number> {
    if (options.secrets.isUnavailable() || engine.queued() >= MAX_QUEUED) return POLL_MS;
    const moreDue = await claimDue();
    const moreHeld = await claimAllHeld();
    return moreDue || moreHeld ? POLL_AGAIN_MS : POLL_MS;
  }

  const loop = superviseLoop({
    round: poll,
    failure: "due deliveries can't be claimed; retrying",
    recovery: "due deliveries are claimed again",
    stopping: options.stopping,
    logger: options.logger,
  });
  signals.onWake(loop.nudge);
  return loop;
}
