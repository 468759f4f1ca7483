import type { Attempt } from "@vvs/proto/webhook/v1/webhook";
import { type Html, html } from "../http/html.ts";

const reasons: Readonly<Record<string, string>> = {
  http_status: "the answer was not 2xx",
  timeout: "no complete answer within 15 s",
  connection: "the connection failed",
  tls: "TLS failed",
  address_refused: "the host leads to a private address",
};

/** What an attempt came to, such as `500: the answer was not 2xx`. */
export function outcomeText({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (!error) return statusCode ? `${statusCode}: delivered` : "delivered";
  const reason = Object.hasOwn(reasons, error) ? reasons[error] : error;
  return [statusCode, statusCode === 410 ? "the answer says that nobody listens there any more" : reason]
    .filter(Boolean)
    .join(": ");
}

/** The same in a word or two: the status, or why there was none. */
export function briefOutcome({ statusCode, error }: Pick<Attempt, "statusCode" | "error">): string {
  if (error === "" || error === "http_status") return String(statusCode);
  return error.replace("_", " ");
}

/** Such as 41 ms, or 15.0 s. */
export function durationText(ms: bigint): string {
  const count = Number(ms);
  return count < 1_000 ? `${count} ms` : `${(count / 1_000).toFixed(1)} s`;
}

/** How many there were. */
export function attemptCount(count: number): Html {
  return html`${count === 1 ? "1 attempt" : `${count} attempts`}`;
}
