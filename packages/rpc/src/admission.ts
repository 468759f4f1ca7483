import { metrics } from "@opentelemetry/api";
import { ServiceError } from "@vvs/errors";

/** Weight of the newest call in the average duration. */
const NEWEST_WEIGHT = 0.1;
const RETRY_AFTER_SECONDS = 1;

/** Maximum numbers of calls of one kind, per environment and replica. */
export interface AdmissionLimits {
  /** Calls that run at the same time. */
  readonly running: number;
  /** Calls of one organization that run at the same time: while they fill this process, others must still get through. */
  readonly runningPerOrganization: number;
  /** Calls that wait for a place. */
  readonly waiting: number;
  /** Calls of one organization that wait for a place. */
  readonly waitingPerOrganization: number;
  /** A call that would wait longer than this is refused at once, and at the latest after this time. */
  readonly longestWaitMs: number;
}

/** Whose call it is. */
interface Owner {
  readonly organizationId: string;
  readonly environment: string;
}

/**
 * Runs a call, or lets it wait for a place. A call whose caller leaves while it waits never runs. Errors: immediately if
 * it would wait too long: rate_limited because of the organization's own calls, service_unavailable because of all;
 * service_unavailable after the longest wait; errors of `work`.
 */
export type Admit = <T>(owner: Owner, leaving: AbortSignal, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  readonly organizationId: string;
  /** Ends the wait: without an error the call runs. */
  readonly end: (error?: Error) => void;
}

/**
 * Bounds how many calls of one kind run and wait. Organizations take turns, and live and the sandbox are apart, so a burst
 * of one organization delays another's call by little more than the calls that already run.
 */
export function createAdmission(kind: string, limits: AdmissionLimits): Admit {
  const refused = metrics.getMeter("rpc").createCounter("rpc_calls_refused", {
    description:
      "Calls refused because too many of their kind wait: of their organization (429), or of all (503). Sustained refusals of all mean that there are too few replicas.",
  });
  const lines = new Map<string, ReturnType<typeof createLine>>();
  const waiting = metrics.getMeter("rpc").createObservableGauge("rpc_calls_waiting", {
    description:
      "Calls that wait until others of their kind have ended. Steadily in the hundreds, calls come too fast.",
  });
  waiting.addCallback((result) => {
    for (const [environment, line] of lines) result.observe(line.waiting(), { kind, environment });
  });

  return async ({ organizationId, environment }, leaving, work) => {
    if (leaving.aborted) throw refusal("all", kind);
    const line = lines.get(environment) ?? createLine(limits);
    lines.set(environment, line);
    const place = line.enter(organizationId, leaving);
    if (typeof place === "string") {
      refused.add(1, { kind, environment, share: place });
      throw refusal(place, kind);
    }
    await place;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      line.leave(organizationId, performance.now() - startedAt);
    }
  };
}

type Share = "organization" | "all";

function refusal(share: Share, kind: string): ServiceError {
  if (share === "all") return new ServiceError("service_unavailable", { retryAfterSeconds: RETRY_AFTER_SECONDS });
  const message = `Too many ${kind} of your organization are waiting. Send fewer at the same time.`;
  return new ServiceError("rate_limited", { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function createLine(limits: AdmissionLimits) {
  const { running: places, runningPerOrganization: share, longestWaitMs } = limits;
  // Maps and sets keep the order of insertion: the first organization is the next one, and its first call.
  const queues = new Map<string, Set<Waiting>>();
  const runningOf = new Map<string, number>();
  let running = 0;
  let waiting = 0;
  let averageMs = 0;

  /** Returns whose share is used up, so that another call of the organization would wait too long. */
  function usedUp(organizationId: string): Share | undefined {
    const own = queues.get(organizationId)?.size ?? 0;
    const ownMs = (own + 1) * averageMs;
    if (own >= limits.waitingPerOrganization || ownMs / share > longestWaitMs) return "organization";
    const organizations = queues.size + (own === 0 ? 1 : 0);
    return waiting >= limits.waiting || (ownMs * organizations) / places > longestWaitMs ? "all" : undefined;
  }

  const hasPlace = (organizationId: string) => running < places && (runningOf.get(organizationId) ?? 0) < share;

  function begin(organizationId: string): void {
    running++;
    runningOf.set(organizationId, (runningOf.get(organizationId) ?? 0) + 1);
  }

  function end(organizationId: string): void {
    running--;
    const left = runningOf.get(organizationId)! - 1;
    if (left > 0) runningOf.set(organizationId, left);
    else runningOf.delete(organizationId);
  }

  function remove(call: Waiting): void {
    const queue = queues.get(call.organizationId);
    if (!queue?.delete(call)) return;
    waiting--;
    if (queue.size === 0) queues.delete(call.organizationId);
  }

  /** Lets the next call run that may; its organization goes to the end. */
  function next(): void {
    for (const [organizationId, queue] of queues) {
      if (!hasPlace(organizationId)) continue;
      const [call] = queue as Iterable<Waiting> as [Waiting];
      queues.delete(organizationId);
      queues.set(organizationId, queue);
      begin(organizationId);
      call.end();
      return;
    }
  }

  function wait(organizationId: string, leaving: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => call.end(refusal("all", ""));
      const timer = setTimeout(refuse, longestWaitMs).unref();
      const call: Waiting = {
        organizationId,
        end(error) {
          clearTimeout(timer);
          leaving.removeEventListener("abort", refuse);
          remove(call);
          if (error) reject(error);
          else resolve();
        },
      };
      leaving.addEventListener("abort", refuse);
      const queue = queues.get(organizationId) ?? new Set();
      queues.set(organizationId, queue.add(call));
      waiting++;
    });
  }

  return {
    waiting: () => waiting,

    /** Takes a place, now or when the promise resolves. Returns whose share is used up if there is none. */
    enter(organizationId: string, leaving: AbortSignal): Promise<void> | Share {
      if (hasPlace(organizationId)) {
        begin(organizationId);
        return Promise.resolve();
      }
      return usedUp(organizationId) ?? wait(organizationId, leaving);
    },

    /** Frees a place after a call that took this long. */
    leave(organizationId: string, durationMs: number): void {
      averageMs += NEWEST_WEIGHT * (durationMs - averageMs);
      end(organizationId);
      next();
    },
  };
}
