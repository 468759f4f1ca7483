import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";
import type { Environment } from "@vvs/tenant";
import type { MonitorStore } from "../store.ts";
import type { Claims } from "./claims.ts";
import type { OrganizationLeases } from "./organization-leases.ts";
import type { RunMetrics } from "./run-metrics.ts";

/**
 * Maximum number of runs that an organization starts per lease. At four leases a second these are 200 a second, while a
 * million monitors of the usual frequencies need 35: so an organization that catches up leaves capacity to all others. In
 * the sandbox few, as its monitors run every few seconds and cost no calls at providers: 20 a second.
 */
const BATCH = { live: 50, sandbox: 5 } as const;
/** Time from one lease of an organization to its next one, in milliseconds. */
export const LEASE_INTERVAL_MS = 250;
/** How long a lease may last, in milliseconds. After a crash the organization waits that long. */
export const ORGANIZATION_LEASE_MS = 10_000;
/** In this last part of a lease nothing more is begun, in milliseconds. Longer than a claim's transaction. */
const LEASE_END_MS = 6_000;
/** Maximum number of organizations that a replica serves at the same time. */
const CONCURRENT_ORGANIZATIONS = 4;
/** Number of due monitors that are looked at first. If there are no more, only their organizations are served. */
const LOOK = 100;
/** No run starts while a record waits for Kafka for longer than this, in milliseconds. */
const OUTBOX_LIMIT_MS = 30_000;
/** Number of consecutive organizations that could not be served after which MongoDB counts as unavailable. */
const FAILURES_IN_A_ROW = 10;

/** What one round has done. */
export interface Round {
  /** Number of due monitors read. */
  readonly due: number;
  readonly claimed: number;
  /** Number of claims that came too late: another replica had won, or the monitor was canceled or changed. */
  readonly lost: number;
  /** Whether more monitors were due than one look shows. */
  readonly more: boolean;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Starts the runs that are due, one organization after the other: while it is leased an organization starts a limited number of
 * runs, longest waiting first, and all others with due monitors are leased before it is again. So an organization with very
 * many due monitors delays no other. Replicas share the leases.
 */
export function createScheduler(options: {
  readonly environment: Environment;
  readonly store: MonitorStore;
  readonly leases: OrganizationLeases;
  readonly claims: Claims;
  readonly metrics: RunMetrics;
  /** Returns whether the organization is suspended. Its monitors do not run. */
  readonly isSuspended: (organizationId: string) => boolean;
  /** Returns how long the oldest record in the outbox has waited, in milliseconds. */
  readonly oldestUnsentMs: () => Promise<number>;
  readonly now: () => Date;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}) {
  const { environment, store, leases, claims, metrics, now, stopping, logger } = options;
  let isHeld = false;

  /** Returns whether Kafka is unavailable for so long that further requests would only pile up. */
  async function isKafkaBehind(): Promise<boolean> {
    const wasHeld = isHeld;
    isHeld = (await options.oldestUnsentMs()) > OUTBOX_LIMIT_MS;
    metrics.held(isHeld);
    if (isHeld && !wasHeld) logger.error({ environment }, "no run starts while the outbox waits for Kafka");
    if (!isHeld && wasHeld) logger.info({ environment }, "runs start again");
    return isHeld;
  }

  /** Serves an organization if it can be leased. If this fails, it can be leased again when this lease has expired. */
  async function serve(organizationId: string): Promise<Omit<Round, "more">> {
    const untilMs = performance.now() + ORGANIZATION_LEASE_MS - LEASE_END_MS;
    const lease = await leases.take(organizationId);
    const done = { due: 0, claimed: 0, lost: 0 };
    if (!lease) return done;
    const tenant = { organizationId, environment };
    const claim = options.isSuspended(organizationId) ? claims.skip : claims.start;
    const batch = BATCH[environment];
    const passed: string[] = [];
    // Usually once. Again if all monitors read could not be claimed, since others may wait behind them.
    do {
      const due = await store.claimable(tenant, now(), batch, passed);
      const result = await claim(tenant, due, untilMs);
      done.due += due.length;
      done.claimed += result.claimed;
      done.lost += result.lost.length;
      passed.push(...result.lost, ...result.failed);
      if (due.length < batch) break;
    } while (done.claimed === 0 && performance.now() < untilMs);
    await leases.end(lease);
    return done;
  }

  return {
    /**
     * Serves each organization with due monitors that can be leased. Errors: MongoDB is unavailable. A claim that fails is
     * tried again with a later lease.
     */
    async claimDue(): Promise<Round> {
      const at = now();
      const { organizations, more } = await store.longestWaiting(at, LOOK);
      const total = { due: 0, claimed: 0, lost: 0, more: false };
      if (organizations.length === 0 || (await isKafkaBehind())) return total;
      const shown = shuffled(organizations);
      // All of them in an order that begins at random, so that replicas rarely try the same organization at the same time.
      const waiting = more ? store.allWaiting(at, shown[0]!) : shown.values();
      let failures = 0;
      const worker = async () => {
        for await (const organizationId of waiting) {
          try {
            const done = await serve(organizationId);
            failures = 0;
            total.due += done.due;
            total.claimed += done.claimed;
            total.lost += done.lost;
          } catch (err) {
            failures += 1;
            logger.warn({ environment, organization_id: organizationId, err }, "starting an organization's runs fails");
            if (failures >= Math.min(FAILURES_IN_A_ROW, organizations.length)) throw err;
          }
          if (stopping.aborted) return;
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT_ORGANIZATIONS }, worker));
      return { ...total, more };
    },
  };
}

/** Starts due runs until stopped, and retries while MongoDB fails. Resolves when the claims in progress are done. */
export function runScheduler(
  scheduler: Scheduler,
  options: { pollMs: number; onClaimed: () => void; signal: AbortSignal; logger: Logger },
): Promise<void> {
  const { pollMs, onClaimed, signal, logger } = options;
  const loop = superviseLoop({
    async round() {
      const { claimed, more } = await scheduler.claimDue();
      if (claimed > 0) onClaimed();
      return more && claimed > 0 ? 0 : pollMs;
    },
    failure: "starting due runs fails; retrying",
    recovery: "starting due runs succeeds again",
    stopping: signal,
    logger,
  });
  return loop.ended();
}

/** Returns the items in random order, so that replicas rarely try the same organization at the same time. */
function shuffled<T>(items: readonly T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }));
  return placed.sort((left, right) => left.place - right.place).map(({ item }) => item);
}
