import { ServiceError } from "@vvs/errors";
import {
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from "mongodb";

const DUPLICATE_KEY = 11_000;
/**
 * What a member that stops or hands over answers to reads, which carry no label: NotWritablePrimary,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary, PrimarySteppedDown, InterruptedAtShutdown,
 * InterruptedDueToReplStateChange, ShutdownInProgress (error_codes.yml of the server).
 */
const PASSING_CODES = new Set([10_107, 13_435, 13_436, 189, 11_600, 11_602, 91]);

/**
 * Was a write refused because a unique index has its value already (an index with `field`, if given)? Of bulk writes
 * the driver doesn't tell the index.
 */
export function isDuplicateKey(error: unknown, field?: string): boolean {
  if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) return false;
  return field === undefined || Object.keys((error.keyPattern as object | undefined) ?? {}).includes(field);
}

/** For gRPC servers: a store that is away or too busy is service_unavailable, anything unknown internal_error. */
export function translateMongoError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return isPassing(error)
    ? new ServiceError("service_unavailable", { cause: error, retryAfterSeconds: 5 })
    : ServiceError.from(error);
}

/** Would the same operation go through once the cluster has a primary in reach, or less to do? */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoClientClosedError ||
    error instanceof MongoTopologyClosedError ||
    error.name === "MongoWaitQueueTimeoutError" || // no connection of the pool came free; the driver exports no class
    error.hasErrorLabel("RetryableWriteError") ||
    error.hasErrorLabel("TransientTransactionError") ||
    (error instanceof MongoServerError && PASSING_CODES.has(error.code as number))
  );
}
