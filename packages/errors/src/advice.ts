import type { ErrorCode } from "./catalogue.ts";

const unseen = { cause: "This key can see no such object.", remedy: "Check the id and the key’s environment." };

/**
 * Why clients get each error and what they do about it, with `code` in backticks. The reference page and docs/errors.md
 * show it.
 */
export const advice: Readonly<Record<ErrorCode, { readonly cause: string; readonly remedy: string }>> = {
  invalid_request: {
    cause: "Input is malformed, missing or contradictory.",
    remedy: "Correct the request. `details` lists every problem with its `path`.",
  },
  cursor_expired: {
    cause: "Events after the cursor in `after` are no longer kept.",
    remedy: "Start again with `after=start`, the oldest event that is kept, and look at what you may have missed.",
  },
  unauthorized: {
    cause: "The key is missing, malformed, unknown, revoked or expired.",
    remedy: "Check the header `Authorization: Bearer`, and the key’s state in the dashboard.",
  },
  forbidden: {
    cause: "The key lacks the scope, or its organization is suspended.",
    remedy: "Use a key with the scope that `message` names. If the organization is suspended, contact the operator.",
  },
  limit_exceeded: {
    cause: "A cap is reached: active monitors, created entities.",
    remedy: "Cancel monitors that you no longer need, or ask for another plan.",
  },
  entity_not_found: {
    cause: unseen.cause,
    remedy: "Check the id and the key’s environment. `message` points out likely typing errors in identifiers.",
  },
  verification_not_found: unseen,
  monitor_not_found: unseen,
  evidence_not_found: unseen,
  job_not_found: unseen,
  not_found: {
    cause: "The path does not exist.",
    remedy: "Check the path. Paths begin with `/v1`, are case-sensitive and do not end with a slash.",
  },
  method_not_allowed: {
    cause: "The path does not support the method.",
    remedy: "Use a method of the `Allow` header.",
  },
  payload_too_large: {
    cause: "The body is larger than 100 kB, or 5 MB on `/v1/jobs`.",
    remedy: "Send a smaller body, or several jobs.",
  },
  unsupported_media_type: {
    cause: "The body is not sent as JSON.",
    remedy: "Send the body as `Content-Type: application/json`.",
  },
  entity_exists: {
    cause: "An identifier belongs to an entity that you can see already, or contradicts it.",
    remedy: "Use the entity in `entity_id`.",
  },
  ambiguous_match: {
    cause: "Several entities match.",
    remedy: "Choose one of `candidates`, or add an identifier or an address.",
  },
  idempotency_conflict: {
    cause: "The first call with this `Idempotency-Key` is still running.",
    remedy: "Repeat the call after a moment.",
  },
  idempotency_mismatch: {
    cause: "This `Idempotency-Key` was used with another body.",
    remedy: "Use a new key for a new request.",
  },
  monitor_canceled: { cause: "A canceled monitor cannot be changed.", remedy: "Create a new monitor." },
  job_finished: {
    cause: "Every row of the job has its last answer.",
    remedy: "Read its results. Nothing is left to cancel.",
  },
  too_many_rows: {
    cause: "Your organization’s jobs together have as many rows without their last answer as the plan allows.",
    remedy: "Wait until earlier jobs have completed, cancel one, or ask for another plan.",
  },
  rate_limited: {
    cause: "The key’s limit per minute is reached, or too many authentications failed.",
    remedy: "Wait for the seconds in `Retry-After`.",
  },
  internal_error: {
    cause: "An error on our side.",
    remedy: "Repeat the call. If it fails again, send us the `request_id`.",
  },
  service_unavailable: {
    cause:
      "A part of the product is unavailable or overloaded. The call has had no effect and will have none, unless `message` says that the outcome is unknown.",
    remedy:
      "Wait for the seconds in `Retry-After` and repeat the call; if the outcome is unknown, with the same `Idempotency-Key`, or check the result first.",
  },
};
