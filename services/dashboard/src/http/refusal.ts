import { type ErrorCode, ServiceError } from "@vvs/errors";
import type { Response } from "express";

/** Returns whether an error is a service's refusal with one of these codes. */
export function isRefusal(error: unknown, ...codes: readonly ErrorCode[]): error is ServiceError {
  return error instanceof ServiceError && codes.includes(error.code);
}

/** Returns the problem of a form's field; undefined if it has none. Errors that are not about fields are thrown as they are. */
export function fieldProblem(error: unknown, path: string): string | undefined {
  if (!isRefusal(error, "invalid_request")) throw error;
  return error.details.find((detail) => detail.path === path)?.message;
}

/** Returns the notice of a refusal, and sets Retry-After if there were too many requests. */
export function refusalNotice(response: Response, error: ServiceError): { kind: "problem"; text: string } {
  if (error.code === "rate_limited") response.set("retry-after", String(error.retryAfterSeconds ?? 60));
  return { kind: "problem", text: error.message };
}
