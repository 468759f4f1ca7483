import { expect, test } from "@jest/globals";
import { isSessionAlive, isTouchDue, newSession, newSessionToken, sessionId } from "./sessions.ts";

const HOUR = 60 * 60 * 1000;
const place = { clientAddress: "203.0.113.9", userAgent: "Browser/1.0" };
const now = new Date("2026-03-01T12:00:00.000Z");
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds);

test("a token has 256 bits, and the session only contains its SHA-256", () => {
  const token = newSessionToken();
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const session = newSession(token, { _id: "usr_1", organization_id: "org_1" }, now, place);
  expect(session._id).toBe(sessionId(token));
  expect(session._id).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(session)).not.toContain(token);
});

test.each([
  ["just begun", 0, 0, true],
  ["used almost 12 h ago", 12 * HOUR, 12 * HOUR - 1, true],
  ["idle for 12 h", 12 * HOUR, 12 * HOUR, false],
  ["almost 7 days old, in use", 7 * 24 * HOUR - 1, 0, true],
  ["7 days old, in use", 7 * 24 * HOUR, 0, false],
])("a session that is %s is alive or not as documented", (_name, begun, used, alive) => {
  const session = newSession("token", { _id: "usr_1", organization_id: "org_1" }, ago(begun), place);
  expect(isSessionAlive({ ...session, last_seen_at: ago(used) }, now)).toBe(alive);
});

test("it stores a limited part of the user agent", () => {
  const user = { _id: "usr_1", organization_id: "org_1" };
  expect(newSession("token", user, now, place)).toMatchObject({
    client_address: "203.0.113.9",
    user_agent: "Browser/1.0",
  });
  const long = newSession("token", user, now, { ...place, userAgent: "x".repeat(5_000) });
  expect(long.user_agent).toHaveLength(300);
});

test("its last use is stored at most once a minute", () => {
  expect(isTouchDue({ last_seen_at: ago(59_999) }, now)).toBe(false);
  expect(isTouchDue({ last_seen_at: ago(60_000) }, now)).toBe(true);
});
