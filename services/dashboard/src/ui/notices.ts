import type { Request } from "express";
import type { Notice } from "./parts.ts";

/** The notice after a form that was answered with a request for the password. */
export const CONFIRMED = "Your identity is confirmed. Your previous action was not carried out yet. Start it again.";

/** Returns the notice that the `done` parameter of the page's address names. A notice that is only a text says what was done. */
export function noticeOf(
  { query: { done } }: Request,
  notices: Readonly<Record<string, Notice | string>>,
): Notice | undefined {
  if (typeof done !== "string" || !Object.hasOwn(notices, done)) return undefined;
  const notice = notices[done]!;
  return typeof notice === "string" ? { kind: "done", text: notice } : notice;
}

export const problemNotice = (text: string): Notice => ({ kind: "problem", text });
