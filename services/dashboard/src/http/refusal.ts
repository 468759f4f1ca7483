import { type ErrorCode, ServiceError } from "@vvs/errors";
import type { Response } from "express";

/** Returns whether an error is a service's refusal with one of these codes. */
export function isRefusal(error: unknown, ...codes: readonly ErrorCode[]): error is ServiceError {
  return error instanceof ServiceError && codes.includes(error.code);
}

/** Returns what was read; undefined if that was refused with one of these codes. */
export async function unlessRefused<T>(reading: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isRefusal(error, ...codes)) return undefined;
    throw error;
  }
}

/** Returns the problem of a form's field; undefined if it has none. Errors that are not about fields are thrown as they are. */
export function fieldProblem(error: unknown, path: string): string | undefined {
  if (!isRefusal(error, "invalid_request")) throw error;
  return error.details.find((detail) => detail.path === path)?.message;
}

const DEFAULT_WAIT_SECONDS = 60;

/** Returns the notice of a refusal. If there were too many requests it says for how long, and sets Retry-After. */
export function refusalNotice(response: Response, error: ServiceError): { kind: "problem"; text: string } {
  const { code, message, retryAfterSeconds = DEFAULT_WAIT_SECONDS } = error;
  if (code !== "rate_limited") return { kind: "problem", text: message };
  response.set("retry-after", String(retryAfterSeconds));
  return { kind: "problem", text: withWait(message, retryAfterSeconds) };
}

/** Returns the message of a refusal with the time after which to try again, in place of "later" or at the end. */
export function withWait(message: string, seconds: number = DEFAULT_WAIT_SECONDS): string {
  const wait = `ry again in ${waitText(seconds)}`;
  const named = message.replace(/ry again (later|in a (few )?(second|minute)s?)/, wait);
  return named === message ? `${message} T${wait}.` : named;
}

/** Returns a wait, rounded up, such as 45 seconds, 15 minutes or 3 hours. */
function waitText(seconds: number): string {
  const [count, unit] =
    seconds <= 90
      ? [Math.ceil(seconds), "second"]
      : seconds <= 90 * 60
        ? [Math.ceil(seconds / 60), "minute"]
        : [Math.ceil(seconds / 3_600), "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
