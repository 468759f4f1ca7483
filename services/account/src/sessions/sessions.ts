import { createHash, randomBytes } from "node:crypto";
import type { SessionDocument } from "../store.ts";

const HOUR_MS = 60 * 60 * 1000;
/** A session that is not used ends after this time. */
export const IDLE_TIMEOUT_MS = 12 * HOUR_MS;
/** Every session ends after this time. */
export const ABSOLUTE_TIMEOUT_MS = 7 * 24 * HOUR_MS;
/** How old the stored time of a session's last use may be, so that not every page view writes. */
const TOUCH_AFTER_MS = 60_000;
const TOKEN_BYTES = 32;
/** Enough of a user agent to recognize the browser; strangers choose its length. */
const MAX_USER_AGENT_LENGTH = 300;

/** Where a session is used. */
export interface SessionPlace {
  readonly clientAddress: string;
  readonly userAgent?: string;
}

/** Returns a new token: 256 random bits as base64url. */
export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Returns the stored hash of a token. 256 random bits need no salt. */
export function sessionId(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** Returns a session that begins now. */
export function newSession(
  token: string,
  user: { _id: string; organization_id: string },
  now: Date,
  { clientAddress, userAgent }: SessionPlace,
): SessionDocument {
  return {
    _id: sessionId(token),
    user_id: user._id,
    organization_id: user.organization_id,
    created_at: now,
    last_seen_at: now,
    expires_at: new Date(now.getTime() + ABSOLUTE_TIMEOUT_MS),
    authenticated_at: now,
    client_address: clientAddress,
    ...(userAgent && { user_agent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }),
  };
}

/** Returns whether a session has neither been idle for too long nor expired. */
export function isSessionAlive(session: Pick<SessionDocument, "last_seen_at" | "expires_at">, now: Date): boolean {
  return now < session.expires_at && now.getTime() - session.last_seen_at.getTime() < IDLE_TIMEOUT_MS;
}

/** Returns whether the stored time of the last use is old enough to be written again. */
export function isTouchDue(session: Pick<SessionDocument, "last_seen_at">, now: Date): boolean {
  return now.getTime() - session.last_seen_at.getTime() >= TOUCH_AFTER_MS;
}
