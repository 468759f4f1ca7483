import type { Attempt, Delivery } from "@vvs/proto/webhook/v1/webhook";
import { type Html, html } from "../http/html.ts";
import { state } from "../ui/parts.ts";

const reasons: Readonly<Record<string, string>> = {
  http_status: "the answer was not 2xx",
  timeout: "no complete answer within 15 s",
  connection: "the connection failed",
  tls: "a secure (TLS) connection could not be set up",
  address_refused: "the host resolves to a private address",
};

/** Returns the outcome of an attempt, such as `500: the answer was not 2xx`. */
export function outcomeText({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (!error) return statusCode ? `${statusCode}: delivered` : "delivered";
  const reason = Object.hasOwn(reasons, error) ? reasons[error] : error;
  return [statusCode, statusCode === 410 ? "the endpoint is gone" : reason].filter(Boolean).join(": ");
}

/** Returns the outcome in one or two words: the status code, or why there was none. */
export function briefOutcome({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (error === "" || error === "http_status") return String(statusCode);
  return error.replace("_", " ");
}

/** Renders the state of a delivery; one that waits after a failed attempt is retrying. */
export function deliveryState({ status, attempts }: Pick<Delivery, "status" | "attempts">): Html {
  const isRetrying = status === "pending" && !!attempts.at(-1)?.error;
  return state(isRetrying ? "retrying" : status);
}

/** Formats a duration, such as 41 ms or 15.0 s. */
export function durationText(ms: bigint): string {
  const count = Number(ms);
  return count < 1_000 ? `${count} ms` : `${(count / 1_000).toFixed(1)} s`;
}

/** Renders the number of attempts. */
export function attemptCount(count: number): Html {
  return html`${count === 1 ? "1 attempt" : `${count} attempts`}`;
}
