import { outcomeUnknown, ServiceError } from "@vvs/errors";
import {
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
} from "mongodb";

const DUPLICATE_KEY = 11_000;
/**
 * Codes of a member that stops, hands over its role, lost other members or is too slow (the server's error_codes.yml).
 */
const PASSING_CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed: too few members confirmed it in time
  89, // NetworkTimeout
  91, // ShutdownInProgress
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  290, // TransactionExceededLifetimeLimitSeconds
  9_001, // SocketException
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
]);
const PASSING_LABELS = [
  "RetryableWriteError",
  "TransientTransactionError",
  "PoolRequestedRetry",
  "SystemOverloadedError",
];
/** Names of classes that the driver doesn't export: no connection of the pool became free, or the pool is closed. */
const PASSING_NAMES = new Set(["MongoWaitQueueTimeoutError", "MongoPoolClosedError"]);

/**
 * Returns whether a write was refused because a unique index already has its value. With `field`, only indexes with
 * that field count; for bulk writes the driver doesn't name the index.
 */
export function isDuplicateKey(error: unknown, field?: string): boolean {
  if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) return false;
  return field === undefined || Object.keys((error.keyPattern as object | undefined) ?? {}).includes(field);
}

/**
 * Returns the refusal for an error of MongoDB: service_unavailable if it is unavailable or too busy, else
 * internal_error.
 */
export function translateMongoError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return isPassing(error)
    ? new ServiceError("service_unavailable", { cause: error, retryAfterSeconds: 5 })
    : ServiceError.from(error);
}

/**
 * Throws the error of an operation that follows a call's committed effect. If MongoDB is unavailable, the outcome of
 * the call is unknown, since its effect may be there.
 */
export function afterEffect(error: unknown): never {
  throw translateMongoError(error).code === "service_unavailable" ? outcomeUnknown(error) : error;
}

/** Returns whether the same operation would succeed once the cluster has a primary, or less load. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoClientClosedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoOperationTimeoutError ||
    error instanceof MongoStalePrimaryError ||
    PASSING_NAMES.has(error.name) ||
    PASSING_LABELS.some((label) => error.hasErrorLabel(label)) ||
    (error instanceof MongoServerError && PASSING_CODES.has(Number(error.code))) ||
    wrapped(error).some(isPassing)
  );
}

/** Returns the errors inside a driver's error: its cause, or the error that ended a bulk write. */
function wrapped(error: MongoError): unknown[] {
  const { errorResponse, err, originalError, writeConcernErrors } = error as unknown as Partial<
    Record<string, unknown>
  >;
  const concerns = Array.isArray(writeConcernErrors) ? writeConcernErrors : [];
  return [error.cause, errorResponse, err, originalError, ...concerns];
}
