import { createHash, randomBytes } from "node:crypto";
import type { SessionDocument } from "../store.ts";

const HOUR_MS = 60 * 60 * 1000;
/** A session that nobody uses ends after this time. */
export const IDLE_TIMEOUT_MS = 12 * HOUR_MS;
/** Every session ends after this time. */
export const ABSOLUTE_TIMEOUT_MS = 7 * 24 * HOUR_MS;
/** How old the note of a session's last use may grow, so that not every page view writes. */
const TOUCH_AFTER_MS = 60_000;
const TOKEN_BYTES = 32;
/** Of what a browser calls itself: enough to tell it, and no more than a stranger may have us keep. */
const MAX_USER_AGENT_LENGTH = 300;

/** Where a session is used. */
export interface SessionPlace {
  readonly clientAddress: string;
  /** The browser, as it calls itself. */
  readonly userAgent?: string;
}

/** A new token: 256 random bits as base64url. */
export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What is stored of a token; without a salt, as nobody can guess 256 random bits. */
export function sessionId(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** A session that begins now. */
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

/** Is the session neither idle for too long nor past its end? */
export function isSessionAlive(session: Pick<SessionDocument, "last_seen_at" | "expires_at">, now: Date): boolean {
  return now < session.expires_at && now.getTime() - session.last_seen_at.getTime() < IDLE_TIMEOUT_MS;
}

/** Is the note of its last use old enough to be written again? */
export function isTouchDue(session: Pick<SessionDocument, "last_seen_at">, now: Date): boolean {
  return now.getTime() - session.last_seen_at.getTime() >= TOUCH_AFTER_MS;
}
