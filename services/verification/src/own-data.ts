import { ServiceError } from "@vvs/errors";
import { isUnimplemented } from "@vvs/rpc";

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

/** Returns undefined where the server is of an earlier version, without this RPC, as during a rollout. Errors: any other. */
export function unimplementedAsUndefined(error: unknown): undefined {
  if (isUnimplemented(error)) return undefined;
  throw error;
}
