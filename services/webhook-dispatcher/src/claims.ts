import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import { createAllowances } from "./allowance.ts";
import type { EndpointBook, EndpointIdentity } from "./endpoint-book.ts";
import type { Engine } from "./engine.ts";
import { heldUntil, isUrgent } from "./hold.ts";
import type { DeliveryMetrics } from "./metrics.ts";
import type { Kind } from "./queue.ts";
import type { Candidate, DeliveryStore } from "./store.ts";

/** How often due deliveries are looked for that nobody nudged about: retries, and those of a replica that died. */
const LOOK_MS = 250;
const TROUBLE_PAUSE_MS = 1_000;
const DUE_AT_ONCE = 200;
/** With so many in hand nothing more is taken. */
const ENOUGH_IN_HAND = 2_000;
/** Of the endpoints with something held back, so many are looked at in one go. */
const ENDPOINTS_AT_ONCE = 64;
/** What no slot could be found for is looked at again so much later. */
const POSTPONED_MS = 5_000;

export interface ClaimsOptions {
  readonly store: Pick<DeliveryStore, "due" | "held" | "claim" | "defer" | "laneHeads">;
  readonly book: Pick<EndpointBook, "get" | "load" | "claimProbe">;
  readonly engine: Pick<Engine, "roomFor" | "hasSlowRoom" | "add" | "queued">;
  readonly metrics: Pick<DeliveryMetrics, "leasesEnded">;
  /** An event of the monitor was put behind others, which may have ended meanwhile. */
  readonly onLaneEnded: (monitorId: string) => void;
  /** Nothing can be signed: what is claimed could not be sent. */
  readonly isHeldUp: () => boolean;
  readonly leaseMs: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Takes in hand what is due in the store: what others accepted, retries, and what was held back. */
export interface Claims {
  /** Something may be due. */
  nudge(): void;
  /** Something is held back for this endpoint. */
  noteHeld(identity: EndpointIdentity): void;
  /** Resolves when nothing is claimed any more. */
  ended(): Promise<void>;
}

interface Deferral {
  readonly candidate: Candidate;
  readonly nextAttemptAt: Date | null;
  readonly held: boolean;
}

export function runClaims(options: ClaimsOptions): Claims {
  const { store, book, engine, logger, now, stopping } = options;
  /** Endpoints with something held back, the one looked at longest ago first. */
  const holding = new Map<string, EndpointIdentity>();
  const allowances = createAllowances(options);
  let wake = new AbortController();

  const identityOf = ({ endpoint_id, organization_id, webhook_url }: Candidate): EndpointIdentity => ({
    _id: endpoint_id,
    organization_id,
    url: webhook_url,
  });

  /** Of those owed a first attempt, the ones that are not their monitor's first, and must wait. */
  async function outOfTurn(candidates: readonly Candidate[]): Promise<Set<Candidate>> {
    const owed = candidates.filter((each) => each.first_attempt_owed);
    if (owed.length === 0) return new Set();
    const heads = await store.laneHeads([...new Set(owed.map(({ monitor_id }) => monitor_id))]);
    const first = new Set(heads.map(({ delivery_id }) => delivery_id));
    return new Set(owed.filter(({ _id }) => !first.has(_id)));
  }

  const kindOf = (candidate: Candidate): Kind =>
    candidate.test || candidate.held || isUrgent(candidate.due_at, now())
      ? "urgent"
      : candidate.first_attempt_owed
        ? "first"
        : "retry";

  async function defer(put: readonly Deferral[]): Promise<void> {
    await store.defer(put);
    for (const { candidate, nextAttemptAt } of put)
      if (nextAttemptAt === null) options.onLaneEnded(candidate.monitor_id);
  }

  async function take(
    candidates: readonly Candidate[],
    how: (candidate: Candidate) => { kind: Kind; probe?: boolean },
  ) {
    const byId = new Map(candidates.map((each) => [each._id, each]));
    const leaseUntil = new Date(now().getTime() + options.leaseMs);
    const claimed = await store.claim(candidates, { now: now(), leaseUntil });
    for (const delivery of claimed) engine.add(delivery, { ...how(byId.get(delivery._id)!), laneHead: true });
    return claimed.length;
  }

  /** Claims what is due and may be sent, and puts the rest off. Returns whether more may be due. */
  async function takeDue(): Promise<boolean> {
    const candidates = await store.due(now(), DUE_AT_ONCE);
    if (candidates.length === 0) return false;
    options.metrics.leasesEnded(candidates.filter(({ lease }) => lease !== undefined).length);
    await book.load(candidates.map(identityOf));
    const waits = await outOfTurn(candidates);
    const room = new Map<string, number>();
    const taken: Candidate[] = [];
    const put: Deferral[] = [];
    for (const candidate of candidates) {
      const identity = identityOf(candidate);
      const left = room.get(identity._id) ?? engine.roomFor(identity);
      if (waits.has(candidate)) put.push({ candidate, nextAttemptAt: null, held: false });
      else if (kindOf(candidate) === "urgent" && engine.hasSlowRoom(candidate.organization_id)) taken.push(candidate);
      else if (kindOf(candidate) === "urgent") put.push(later(candidate));
      else if (left > 0) {
        room.set(identity._id, left - 1);
        taken.push(candidate);
      } else {
        put.push({ candidate, nextAttemptAt: heldUntil(candidate.due_at, now()), held: true });
        noteHeld(identity);
      }
    }
    await defer(put);
    await take(taken, (candidate) => ({ kind: kindOf(candidate) }));
    return candidates.length === DUE_AT_ONCE;
  }

  function later(candidate: Candidate): Deferral {
    const spread = POSTPONED_MS * (0.5 + Math.random());
    return { candidate, nextAttemptAt: new Date(now().getTime() + spread), held: true };
  }

  /** Sends what was held back for an endpoint, as far as it may have it. */
  async function takeHeld(identity: EndpointIdentity): Promise<boolean> {
    const { count, probe } = allowances.of(identity);
    if (count <= 0) return false;
    const candidates = await store.held(identity._id, count);
    if (candidates.length < count) holding.delete(identity._id);
    if (candidates.length === 0) return false;
    const waits = await outOfTurn(candidates);
    await defer([...waits].map((candidate) => ({ candidate, nextAttemptAt: null, held: false })));
    const ready = candidates.filter((candidate) => !waits.has(candidate));
    if (ready.length === 0) return true;
    if (probe && !(await book.claimProbe(identity, new Date(now().getTime() + options.leaseMs)))) return false;
    const taken = await take(ready, (candidate) => ({
      kind: probe ? "urgent" : candidate.first_attempt_owed ? "first" : "retry",
      probe,
    }));
    allowances.note(identity, taken);
    return taken > 0 && !probe;
  }

  async function takeAllHeld(): Promise<boolean> {
    let more = false;
    const some = [...holding.values()].slice(0, ENDPOINTS_AT_ONCE);
    for (const identity of some) {
      // To the end of the turns, for as long as there is something.
      holding.delete(identity._id);
      holding.set(identity._id, identity);
      more = (await takeHeld(identity)) || more;
    }
    return more || holding.size > some.length;
  }

  function noteHeld(identity: EndpointIdentity): void {
    if (!holding.has(identity._id)) holding.set(identity._id, identity);
  }

  async function work(): Promise<void> {
    let troubled = false;
    while (!stopping.aborted) {
      wake = new AbortController();
      let more = false;
      try {
        if (!options.isHeldUp() && engine.queued() < ENOUGH_IN_HAND) {
          more = await takeDue();
          more = (await takeAllHeld()) || more;
        }
        if (troubled) logger.info("due deliveries are claimed again");
        troubled = false;
      } catch (err) {
        if (!troubled) logger.error({ err }, "due deliveries can't be claimed; trying until they can");
        troubled = true;
      }
      const signal = AbortSignal.any([wake.signal, stopping]);
      const pauseMs = troubled ? TROUBLE_PAUSE_MS : more ? 10 : LOOK_MS;
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  const working = work();
  return { nudge: () => wake.abort(), noteHeld, ended: () => working };
}
