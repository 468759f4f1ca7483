import { metrics } from "@opentelemetry/api";
import { ServiceError } from "@vvs/errors";
import { CERTAIN_WAIT, createFairQueue, type QueueLimits, type Share } from "./fair-queue.ts";
import { createPresence } from "./presence.ts";

const RETRY_AFTER_SECONDS = 1;
/** A call that was refused as one too many keeps its place for this long, in milliseconds, since the next would be refused too. */
const REFUSED_MS = 100;

/** Whose call it is. */
interface Owner {
  readonly organizationId: string;
  readonly environment: string;
}

/**
 * Runs a call, or lets it wait for a place. A call whose caller leaves while it waits never runs. Errors: immediately if
 * it may not wait, rate_limited because of the organization's own calls, service_unavailable because of all; the same
 * after the longest wait; errors of `work`.
 */
export type Admit = <T>(owner: Owner, leaving: AbortSignal, work: () => Promise<T>) => Promise<T>;

type Queue = ReturnType<typeof createFairQueue>;

/** Which organizations call this process. How much one may use depends on whether others call too, for any kind of call. */
const processPresence = createPresence(() => performance.now());

/** Returns whether another organization has called this process within the last second. */
export const { isBesideOthers } = processPresence;

interface AdmissionLimits extends QueueLimits {
  /** A call that runs longer waits for others, and no longer takes a place. Absent: it always does. */
  readonly longestHeldMs?: number;
}

/**
 * Bounds how many calls of one kind run and wait, per environment and replica. Organizations take turns, and live and the
 * sandbox are apart.
 */
export function createAdmission(kind: string, limits: AdmissionLimits, presence = processPresence): Admit {
  const queues = createQueues(kind, limits, presence);
  return async (owner, leaving, work) => {
    const queue = await queues.enter(owner, leaving);
    const startedAt = performance.now();
    let isHeld = true;
    const free = (isRefused = false) => {
      if (!isHeld) return;
      isHeld = false;
      const durationMs = isRefused ? REFUSED_MS : performance.now() - startedAt;
      const leave = () => queue.leave(owner.organizationId, durationMs);
      const pauseMs = isRefused ? REFUSED_MS : queue.pauseMs(owner.organizationId, durationMs);
      if (pauseMs > 0) setTimeout(leave, pauseMs);
      else leave();
    };
    const timer = limits.longestHeldMs === undefined ? undefined : setTimeout(free, limits.longestHeldMs).unref();
    try {
      return await work();
    } catch (error) {
      free(error instanceof ServiceError && error.code === "rate_limited");
      throw error;
    } finally {
      clearTimeout(timer);
      free();
    }
  };
}

/** Resolves when it is the organization's turn. Errors: as those of Admit. */
type TakeTurn = (owner: Owner, leaving: AbortSignal) => Promise<void>;

/** How many calls may wait for their turn. */
type TurnLimits = Omit<QueueLimits, "running" | "runningPerOrganization" | "runningBesideOthers">;

/**
 * Lets one call of each organization begin per turn of the event loop, so that a burst of one organization leaves time for
 * others' calls in between. Nothing is held while the call then waits for others.
 */
export function createTurns(kind: string, limits: TurnLimits, presence = processPresence): TakeTurn {
  const onePerTurn = { running: Number.POSITIVE_INFINITY, runningPerOrganization: 1, runningBesideOthers: 1 };
  const queues = createQueues(kind, { ...onePerTurn, ...limits }, presence);
  return async (owner, leaving) => {
    const queue = await queues.enter(owner, leaving);
    setImmediate(() => queue.leave(owner.organizationId, 0));
  };
}

/** Creates a queue for each environment, with metrics. */
function createQueues(kind: string, limits: QueueLimits, presence: typeof processPresence) {
  const refused = metrics.getMeter("rpc").createCounter("rpc_calls_refused", {
    description:
      "Calls refused because too many of their kind wait: of their organization (429), or of all (503). Sustained refusals of all mean that there are too few replicas.",
  });
  const queues = new Map<string, Queue>();
  const waiting = metrics.getMeter("rpc").createObservableGauge("rpc_calls_waiting", {
    description:
      "Calls that wait until others of their kind have ended. Steadily in the hundreds, calls come too fast.",
  });
  waiting.addCallback((result) => {
    for (const [environment, queue] of queues) result.observe(queue.waiting(), { kind, environment });
  });

  function refuse(share: Share, environment: string): ServiceError {
    refused.add(1, { kind, environment, share });
    return refusal(share, kind);
  }

  return {
    /** Resolves to the queue when the call has its place. */
    async enter({ organizationId, environment }: Owner, leaving: AbortSignal): Promise<Queue> {
      if (leaving.aborted) throw refusal("all", kind);
      presence.see(organizationId);
      const queue = queues.get(environment) ?? createFairQueue(limits, presence.isBesideOthers);
      queues.set(environment, queue);
      const place = Promise.withResolvers<void>();
      const entered = queue.enter(organizationId, place.resolve);
      if (typeof entered === "string") throw refuse(entered, environment);
      if (!entered) return queue;
      const giveUp = () => place.reject(refuse(entered(), environment));
      // Refusing a whole burst at the same moment would hold up others' calls.
      const waitMs = limits.longestWaitMs * (CERTAIN_WAIT + Math.random() * (1 - CERTAIN_WAIT));
      const timer = setTimeout(giveUp, waitMs).unref();
      leaving.addEventListener("abort", giveUp);
      await place.promise.finally(() => {
        clearTimeout(timer);
        leaving.removeEventListener("abort", giveUp);
      });
      return queue;
    },
  };
}

function refusal(share: Share, kind: string): ServiceError {
  if (share === "all") return new ServiceError("service_unavailable", { retryAfterSeconds: RETRY_AFTER_SECONDS });
  const message = `Too many ${kind} of your organization are waiting. Send fewer at the same time.`;
  return new ServiceError("rate_limited", { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
