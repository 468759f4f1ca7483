import type { Logger } from "@vvs/logging";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { SigningSecretCache } from "../attempt/signing-secrets.ts";
import { mayProbe, rampSecond } from "../endpoints/circuit.ts";
import { type EndpointIdentity, endpointOf } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { heldUntil, isUrgent } from "../model/retry-schedule.ts";
import type { DueSignals } from "./due-signals.ts";
import type { Addition, Engine } from "./engine.ts";
import type { MonitorUrls } from "./monitor-urls.ts";
import type { Priority } from "./queue.ts";
import type { Slots } from "./slots.ts";
import { blocked, type Candidate, type DeliveryStore, type Postponement } from "./store.ts";
import type { Unblocker } from "./unblocker.ts";

/** Pause between polls, in milliseconds: `wake` ends it earlier. */
const POLL_MS = 250;
/**
 * Longest time between two readings of due deliveries, in milliseconds. While a retry is near, and after `wake`, each poll reads them. A
 * reading walks over the leases of the last half minute, which MongoDB still has in its index.
 */
const READ_MS = 1_000;
/** The pause while more is due than one poll takes. */
const POLL_AGAIN_MS = 10;
/** Maximum number of due deliveries taken by one poll. */
const DUE_PER_POLL = 200;
/**
 * How often all due deliveries are read, in milliseconds; the polls between read what became due since the one before. MongoDB
 * keeps in its index for five minutes what was due and is done, and reads past it.
 */
const READ_ALL_MS = 5_000;
/** More than the clocks of replicas differ, in milliseconds: they say when a delivery is due. */
const CLOCKS_DIFFER_MS = 5_000;
/** While this many deliveries are queued in this replica, nothing is claimed. */
const MAX_QUEUED = 2_000;
/** Maximum number of endpoints with held deliveries looked at by one poll. */
const ENDPOINTS_PER_POLL = 64;
/** Maximum number of held deliveries to one endpoint claimed together. */
const HELD_PER_CLAIM = 64;
/** An urgent delivery for which there is no slot is due again after this long at the earliest, … */
const NO_SLOT_DELAY_MS = 2_500;
/** … and this long after the one before it of its organization and host, so that a large backlog costs other ones little. */
const NO_SLOT_SPACING_MS = 10;

/**
 * Claims what is due in the store: retries, events that other replicas accepted, leases that ended, and held deliveries
 * for which their endpoint has room.
 */
export function runDuePoller(options: {
  store: Pick<DeliveryStore, "due" | "held" | "claim" | "postpone" | "monitorHeads">;
  urls: Pick<MonitorUrls, "apply">;
  endpoints: Pick<EndpointCache, "get" | "load" | "claimProbe">;
  /** While no secrets can be had, nothing is claimed: it could not be sent. */
  secrets: Pick<SigningSecretCache, "isUnavailable">;
  engine: Pick<Engine, "roomFor" | "add" | "queued">;
  slots: Pick<Slots, "hasSlowOne">;
  signals: DueSignals;
  unblocker: Pick<Unblocker, "unblockNext">;
  metrics: Pick<DeliveryMetrics, "leasesEnded">;
  /** Duration of a lease, in milliseconds. */
  leaseMs: number;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}): SupervisedLoop {
  const { store, endpoints, engine, signals, now } = options;
  /** Attempts begun in the present second of an endpoint's ramp, by endpoint. */
  const ramped = new Map<string, { second: string; begun: number }>();
  /** When the last urgent delivery that found no slot is due again, by organization and host. */
  const lastTurns = new Map<string, number>();
  let readAt = Number.NEGATIVE_INFINITY;
  /** When a poll that read all due deliveries began, and the last one after which nothing was left to be taken. */
  let readAllAt = Number.NEGATIVE_INFINITY;
  let emptyAt = Number.NEGATIVE_INFINITY;
  const leaseEnd = () => new Date(now().getTime() + options.leaseMs);
  const isNowUrgent = (candidate: Candidate) => candidate.test || candidate.held || isUrgent(candidate.due_at, now());
  const byAttempt = (candidate: Candidate): Priority => (candidate.first_attempt_owed ? "first" : "retry");

  /** Returns those that are owed a first attempt and are not the first of their monitor. */
  async function blockedOf(candidates: readonly Candidate[]): Promise<Set<Candidate>> {
    const owed = candidates.filter((each) => each.first_attempt_owed);
    if (owed.length === 0) return new Set();
    const heads = await store.monitorHeads([...new Set(owed.map(({ monitor_id }) => monitor_id))]);
    const first = new Set(heads.map(({ _id }) => _id));
    return new Set(owed.filter(({ _id }) => !first.has(_id)));
  }

  async function postpone(postponements: readonly Postponement[]): Promise<void> {
    await store.postpone(postponements);
    // The events before a blocked one may have ended while it was written.
    for (const { delivery, nextAttemptAt } of postponements)
      if (nextAttemptAt === null) options.unblocker.unblockNext(delivery.monitor_id);
  }

  /**
   * Leases these for the engine, unless another replica has them; returns how many. Reads their monitors' URLs before, as
   * the replica that made a delivery pending may have died before it did.
   */
  async function claim(
    candidates: readonly Candidate[],
    how: (candidate: Candidate) => Omit<Addition, "isHead">,
  ): Promise<number> {
    await options.urls.apply(candidates);
    const byId = new Map(candidates.map((each) => [each._id, each]));
    const claimed = await store.claim(candidates, { now: now(), leaseUntil: leaseEnd() });
    for (const delivery of claimed) engine.add(delivery, { ...how(byId.get(delivery._id)!), isHead: true });
    return claimed.length;
  }

  /** Returns when an urgent delivery that finds no slot is due again. Test events wait for no backlog. */
  function nextTurn({ organization_id, webhook_url, test }: Candidate): Date {
    const earliest = now().getTime() + NO_SLOT_DELAY_MS;
    if (test) return new Date(earliest);
    const key = `${organization_id} ${new URL(webhook_url).hostname}`;
    const turn = Math.max(earliest, (lastTurns.get(key) ?? 0) + NO_SLOT_SPACING_MS);
    lastTurns.set(key, turn);
    return new Date(turn);
  }

  /** Claims what is due and may be sent, and postpones the rest. Returns whether more may be due. */
  async function claimDue(): Promise<boolean> {
    const at = now().getTime();
    if (!signals.takeWake() && !signals.isRetryNear(new Date(at)) && at - readAt < READ_MS) return false;
    readAt = at;
    const readsAll = at - readAllAt >= READ_ALL_MS;
    const since = readsAll ? undefined : new Date(emptyAt - CLOCKS_DIFFER_MS);
    const candidates = await store.due(new Date(at), DUE_PER_POLL, since);
    await settle(candidates);
    const isMoreDue = candidates.length === DUE_PER_POLL;
    if (isMoreDue) readAt = Number.NEGATIVE_INFINITY;
    else emptyAt = at;
    if (!isMoreDue && readsAll) readAllAt = at;
    return isMoreDue;
  }

  async function settle(candidates: readonly Candidate[]): Promise<void> {
    for (const [key, turn] of lastTurns) if (turn < now().getTime()) lastTurns.delete(key);
    if (candidates.length === 0) return;
    options.metrics.leasesEnded(candidates.filter(({ lease }) => lease !== undefined).length);
    await endpoints.load(candidates.map(endpointOf));
    const waiting = await blockedOf(candidates);
    const room = new Map<string, number>();
    const claimable: Candidate[] = [];
    const postponements: Postponement[] = [];
    for (const candidate of candidates) {
      const identity = endpointOf(candidate);
      const left = room.get(identity._id) ?? engine.roomFor(identity);
      if (waiting.has(candidate)) postponements.push(blocked(candidate));
      else if (isNowUrgent(candidate) && options.slots.hasSlowOne(identity)) claimable.push(candidate);
      else if (isNowUrgent(candidate)) {
        postponements.push({ delivery: candidate, nextAttemptAt: nextTurn(candidate), held: true });
      } else if (left > 0) {
        room.set(identity._id, left - 1);
        claimable.push(candidate);
      } else {
        postponements.push({ delivery: candidate, nextAttemptAt: heldUntil(candidate.due_at, now()), held: true });
        signals.noteHeld(identity);
      }
    }
    await postpone(postponements);
    await claim(claimable, (each) => ({ priority: isNowUrgent(each) ? "urgent" : byAttempt(each) }));
  }

  /** Returns how many held deliveries to an endpoint may be claimed now; one, as a probe, while its circuit is open. */
  function allowanceOf(identity: EndpointIdentity): { count: number; probe: boolean } {
    const { circuit } = endpoints.get(identity);
    if (circuit.state === "open") return { count: mayProbe(circuit, now()) ? 1 : 0, probe: true };
    const ramp = rampSecond(circuit, now());
    const room = engine.roomFor(identity);
    const count = ramp && room <= 0 ? ramp.attempts - begunIn(ramp.id, identity) : room;
    return { count: Math.min(count, HELD_PER_CLAIM), probe: false };
  }

  function begunIn(second: string, { _id }: EndpointIdentity): number {
    const known = ramped.get(_id);
    return known?.second === second ? known.begun : 0;
  }

  function noteRamped(identity: EndpointIdentity, claimed: number): void {
    const ramp = rampSecond(endpoints.get(identity).circuit, now());
    if (!ramp) return void ramped.delete(identity._id);
    ramped.set(identity._id, { second: ramp.id, begun: claimed + begunIn(ramp.id, identity) });
  }

  /** Claims held deliveries to an endpoint, as many as it may have now. Returns whether it may have more. */
  async function claimHeld(identity: EndpointIdentity): Promise<boolean> {
    const { count, probe } = allowanceOf(identity);
    if (count <= 0) return false;
    const candidates = await store.held(identity._id, count);
    if (candidates.length < count) signals.noteNoneHeld(identity);
    if (candidates.length === 0) return false;
    const waiting = await blockedOf(candidates);
    await postpone([...waiting].map(blocked));
    const ready = candidates.filter((candidate) => !waiting.has(candidate));
    if (ready.length === 0) return true;
    if (probe && !(await endpoints.claimProbe(identity, leaseEnd()))) return false;
    const claimed = await claim(ready, (each) => ({ priority: probe ? "urgent" : byAttempt(each), probe }));
    noteRamped(identity, claimed);
    return claimed > 0 && !probe;
  }

  const loop = superviseLoop({
    async round() {
      if (options.secrets.isUnavailable() || engine.queued() >= MAX_QUEUED) return POLL_MS;
      let more = await claimDue();
      const next = signals.nextHeld(ENDPOINTS_PER_POLL);
      for (const identity of next) more = (await claimHeld(identity)) || more;
      return more || signals.heldCount() > next.length ? POLL_AGAIN_MS : POLL_MS;
    },
    failure: "due deliveries can't be claimed; retrying",
    recovery: "due deliveries are claimed again",
    stopping: options.stopping,
    logger: options.logger,
  });
  signals.onWake(loop.nudge);
  return loop;
}
