import { withoutDeadline } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";

/**
 * Reads or writes data of this product that a check needs. Errors: service_unavailable where that fails. That says nothing
 * about the vendor or a provider, so the call is refused and nothing is stored.
 */
export async function readOwnData<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new ServiceError("service_unavailable", { retryAfterSeconds: 1, cause });
  }
}

/**
 * Returns a reader that answers from a copy of what `read` returned, which is at most `maxAgeMs` old by `clock`, from when it was
 * asked for; both in milliseconds. Calls that need a newer one share the reading. Errors: those of `read`.
 */
export function createCopy<T>(options: { read: () => Promise<T>; maxAgeMs: number; clock: () => number }) {
  const { maxAgeMs, clock } = options;
  let copy: { readonly value: T; readonly askedAt: number } | undefined;
  let reading: Promise<T> | undefined;

  async function read(): Promise<T> {
    const askedAt = clock();
    const value = await options.read();
    copy = { value, askedAt };
    return value;
  }

  function readOnce(): Promise<T> {
    // Not limited by the first caller, which may give up: the answer is for all callers that wait.
    reading ??= withoutDeadline(read).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  const isNew = (at: number) => Math.abs(clock() - at) <= maxAgeMs;

  return async (): Promise<T> => (copy && isNew(copy.askedAt) ? copy.value : outside(readOnce));
}

/** Returns a handler of errors that makes undefined of those with this code, and throws any other. */
export function asUndefined(code: ServiceError["code"]) {
  return (error: unknown): undefined => {
    if (error instanceof ServiceError && error.code === code) return undefined;
    throw error;
  };
}
