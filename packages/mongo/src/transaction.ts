import { setTimeout as wait } from "node:timers/promises";
import { currentDeadline, type Deadline, deadlineAt, isTooLate, timerMs, tooLate, underDeadline } from "@vvs/deadline";
import { outcomeUnknown } from "@vvs/errors";
import { type ClientSession, type MongoClient, MongoError } from "mongodb";
import { hasOpenWrites } from "./writes.ts";

/** Maximum duration of a transaction of background work, which has no deadline, unless the work sets another. */
const BACKGROUND_MS = 10_000;
const FIRST_BACKOFF_MS = 5;
const LONGEST_BACKOFF_MS = 500;

export interface TransactionOptions {
  /** False: a transaction that conflicts with another one fails instead of being tried again. */
  readonly retry?: boolean;
  /** The caller's session, which runs one transaction at a time and is not ended. Default: a session of its own. */
  readonly session?: ClientSession;
  /** Maximum duration in background work, in milliseconds. Default: 10 s. */
  readonly backgroundMs?: number;
}

/**
 * Runs `work` in a transaction: all of its writes take effect, or none. `work` may run more than once, so it must only
 * write to MongoDB. The transaction ends by the deadline of the call that is being served, else within `backgroundMs`,
 * even if MongoDB hangs. Errors: those of `work`, with nothing written; service_unavailable if it could not be committed
 * in time, certainly without effect, or with an unknown outcome (isOutcomeUnknown) if a commit had begun.
 */
export function inTransaction<T>(
  client: MongoClient,
  work: (session: ClientSession) => Promise<T>,
  { retry = true, session: given, backgroundMs = BACKGROUND_MS }: TransactionOptions = {},
): Promise<T> {
  const deadline = currentDeadline() ?? deadlineAt(Date.now() + backgroundMs)!;
  if (isTooLate(deadline)) return Promise.reject(tooLate());
  const session = given ?? client.startSession();
  const attempts = createAttempts(session, deadline, work, retry);
  const done = underDeadline(deadline, attempts.run);
  // Not earlier: an operation of `work` that hangs still uses the session, which the driver would give to another call.
  if (!given) void done.finally(() => session.endSession()).catch(() => undefined);
  return answeredInTime(done, deadline, attempts);
}

function createAttempts<T>(
  session: ClientSession,
  deadline: Deadline,
  work: (session: ClientSession) => Promise<T>,
  retry: boolean,
) {
  let refused = false;
  let committing = false;
  let lastError: unknown;

  async function attempt(): Promise<T> {
    session.startTransaction();
    const result = await work(session);
    if (refused || isTooLate(deadline)) throw tooLate(lastError);
    if (!session.inTransaction()) return result;
    committing = true;
    await commit(session, deadline);
    return result;
  }

  async function run(): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        committing = false;
        lastError = error;
        if (session.inTransaction()) await session.abortTransaction();
        if (refused || !hasLabel(error, "TransientTransactionError")) throw error;
        const backoffMs = Math.random() * Math.min(FIRST_BACKOFF_MS * 1.5 ** count, LONGEST_BACKOFF_MS);
        if (retry) await wait(Math.min(backoffMs, timerMs(deadline.writesEndAt)));
        if (!retry || isTooLate(deadline)) throw tooLate(error);
      }
    }
  }

  return {
    run,
    /** Lets no commit begin, and aborts the transaction in the background, immediately or when its open write has ended. */
    refuse() {
      refused = true;
      // DeadlineClient refuses all later writes of `work`, because its time is over. But one that waits for a connection would
      // be sent outside of the aborted transaction: then `run` aborts when it has ended.
      if (session.inTransaction() && !hasOpenWrites(session)) void session.abortTransaction().catch(() => undefined);
    },
    isCommitting: () => committing,
    /** Returns the error of the latest attempt that failed. */
    lastError: () => lastError,
  };
}

/** Repeats the commit until MongoDB answers it. Errors: TransientTransactionError (it was aborted), outcomeUnknown. */
async function commit(session: ClientSession, deadline: Deadline): Promise<void> {
  for (let count = 1; ; count++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (hasLabel(error, "TransientTransactionError")) throw error;
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** count, LONGEST_BACKOFF_MS);
      // This asks for the result of the commit that was sent before, so it may go on until the deadline itself.
      if (Date.now() + backoffMs >= deadline.at) throw outcomeUnknown(error);
      await wait(backoffMs);
    }
  }
}

/** Ends attempts that hang: as refused when it is too late for a commit, with an unknown outcome if one has begun. */
async function answeredInTime<T>(
  done: Promise<T>,
  deadline: Deadline,
  attempts: Omit<ReturnType<typeof createAttempts>, "run">,
): Promise<T> {
  const { promise: timeIsUp, reject } = Promise.withResolvers<never>();
  const until = (at: number, then: () => void) => setTimeout(then, timerMs(at));
  let timer = until(deadline.writesEndAt, () => {
    if (attempts.isCommitting()) {
      timer = until(deadline.at, () => reject(outcomeUnknown(attempts.lastError())));
    } else {
      attempts.refuse();
      reject(tooLate(attempts.lastError()));
    }
  });
  try {
    return await Promise.race([done, timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}
