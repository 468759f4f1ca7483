import { metrics } from "@opentelemetry/api";
import { callerHangUp, currentDeadline, isTooLate, timerMs } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { createFairQueue, type FairQueue, type Flow } from "./fair-queue.ts";
import { inSeat, outside, seatedIn } from "./seat.ts";

/**
 * Classes of calls with their weights: a person at the dashboard, a direct call, a monitor's run, a job's row, a stranger at the
 * dashboard, our own.
 */
const WEIGHTS = { person: 8, direct: 4, run: 2, job: 1, stranger: 1, internal: 8 } as const;
/** Part of its weight that a class has in the sandbox. */
const SANDBOX_SHARE = 0.25;
/** Maximum number of waiting calls of one flow, and of all. */
const MAX_WAITING_IN_FLOW = 250;
const MAX_WAITING = 5_000;
const RETRY_AFTER_SECONDS = 1;

/** Whose call it is. Our own calls and those of strangers name no organization. */
export interface CallOwner {
  readonly class: keyof typeof WEIGHTS;
  readonly organizationId: string;
  readonly environment: string;
}

/** A call that is to be admitted. */
export interface AdmittedCall {
  readonly owner: CallOwner;
  /** The kind of work, by which its cost is estimated, such as the name of an RPC. */
  readonly kind: string;
  /** Time of the work that the call causes in this process after it has ended, such as publishing a record, in milliseconds. */
  readonly laterMs?: number | undefined;
  /** Maximum number of calls of this kind and owner that have begun, also while they wait outside. */
  readonly maxBegun?: number | undefined;
  /** Maximum wait, in milliseconds. Where absent, a call waits as long as its deadline allows; without one, for its turn. */
  readonly maxWaitMs?: number;
}

/**
 * Runs a call when it is its turn. A call within another one of the same queue runs immediately, in the same seat; one within a
 * call of another queue gives that seat back meanwhile. A call whose caller has left never begins. Errors: those of `work`;
 * rate_limited where too many calls of the owner wait; service_unavailable where too many calls of all owners wait, or where
 * the call's time for writes is over.
 */
export type Admit = <T>(call: AdmittedCall, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a queue (`fair-queue.ts`): that of a process's calls, or of what only a few of them may use at the same time. `seats`
 * is the number of calls that run at the same time.
 */
export function createAdmission({ seats, name = "calls" }: { seats: number; name?: string }): Admit {
  const queue = createFairQueue({ seats, clock: () => performance.now() });
  const { refused, waited } = observe(queue, { seats, name });

  async function refuse({ owner, kind }: AdmittedCall, share: "organization" | "all"): Promise<never> {
    refused.add(1, { queue: name, kind, environment: owner.environment, share });
    if (share === "all") throw new ServiceError("service_unavailable", { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const message = owner.organizationId
      ? "Too many calls of your organization are waiting. Send fewer at the same time."
      : "Too many people are doing this right now. Try again in a few seconds.";
    throw new ServiceError("rate_limited", { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  const admit: Admit = async (call, work) => {
    const [gone, deadline, held] = [callerHangUp(), currentDeadline(), seatedIn()];
    if (gone?.aborted || isTooLate(deadline)) return refuse(call, "all");
    if (held === queue) return work();
    if (held) return outside(() => admit(call, work));
    const flow = flowOf(call.owner);
    if (queue.waitingIn(flow.id) >= MAX_WAITING_IN_FLOW) return refuse(call, "organization");
    if (queue.waiting() >= MAX_WAITING) return refuse(call, "all");
    const seated = Promise.withResolvers<boolean>();
    const arrivedAt = performance.now();
    const bound = call.maxBegun === undefined ? undefined : { key: `${flow.id} ${call.kind}`, max: call.maxBegun };
    const begin = () => seated.resolve(true);
    const { kind, laterMs } = call;
    const ticket = queue.enter({ flow, kind, laterMs, ...(bound && { bound }), begin });
    const giveUp = () => seated.resolve(false);
    const waitMs = Math.min(
      call.maxWaitMs ?? Number.POSITIVE_INFINITY,
      deadline ? timerMs(deadline.writesEndAt) : Number.POSITIVE_INFINITY,
    );
    const timer = waitMs < Number.POSITIVE_INFINITY ? setTimeout(giveUp, waitMs) : undefined;
    gone?.addEventListener("abort", giveUp, { once: true });
    try {
      if (!(await seated.promise)) return await refuse(call, queue.waitingIn(flow.id) > 1 ? "organization" : "all");
      waited.record((performance.now() - arrivedAt) / 1_000, { queue: name, class: call.owner.class });
      return await inSeat({ ticket, queue }, work);
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener("abort", giveUp);
      ticket.end();
    }
  };
  return admit;
}

function flowOf({ class: name, organizationId, environment }: CallOwner): Flow {
  const isSandbox = environment === "sandbox";
  const weight = WEIGHTS[name] * (isSandbox ? SANDBOX_SHARE : 1);
  return { id: `${name} ${environment} ${organizationId}`, weight, isSandbox };
}

function observe(queue: FairQueue, { seats, name }: { seats: number; name: string }) {
  const attributes = { queue: name };
  const meter = metrics.getMeter("calls");
  meter
    .createObservableGauge("calls_waiting", {
      description: "Calls that wait for a seat. Steadily in the hundreds, calls come too fast.",
    })
    .addCallback((result) => result.observe(queue.waiting(), attributes));
  meter
    .createObservableGauge("calls_seated", { description: "Calls that hold a seat." })
    .addCallback((result) => result.observe(queue.seated(), attributes));
  meter
    .createObservableGauge("call_seats", { description: "Calls that may run at the same time in this process." })
    .addCallback((result) => result.observe(seats, attributes));
  meter
    .createObservableCounter("call_seats_idle_duration", {
      description:
        "Time in which a seat was free while a call waited that could begin. More than 0 is a defect of the queue.",
      unit: "s",
    })
    .addCallback((result) => result.observe(queue.idleMs() / 1_000, attributes));
  return {
    refused: meter.createCounter("calls_refused", {
      description:
        "Calls refused because too many wait: of their organization (429), or of all (503). Sustained refusals of all mean that there are too few replicas.",
    }),
    waited: meter.createHistogram("call_wait_duration", {
      description: "Time that calls waited for a seat. A p99 over a second means that there are too few replicas.",
      unit: "s",
    }),
  };
}
