import { ServiceError } from "@vvs/errors";

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

/** Returns a handler of errors that makes undefined of those with this code, and throws any other. */
export function asUndefined(code: ServiceError["code"]) {
  return (error: unknown): undefined => {
    if (error instanceof ServiceError && error.code === code) return undefined;
    throw error;
  };
}
