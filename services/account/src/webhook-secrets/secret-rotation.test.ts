import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { checkedWebhookSecret, newWebhookSecret, OVERLAP_MS, replaced, signingNow } from "./secret-rotation.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

test("a new secret is whsec_ and base64 of 32 random bytes", () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret()).not.toBe(secret);
  expect(checkedWebhookSecret(secret)).toBe(secret);
});

describe("a secret that a user chose", () => {
  const ofBytes = (count: number) => `whsec_${randomBytes(count).toString("base64")}`;

  test.each([24, 25, 32, 64])("of %d bytes is accepted", (count) => {
    const secret = ofBytes(count);
    expect(checkedWebhookSecret(secret)).toBe(secret);
  });

  test.each([
    ["of 23 bytes", ofBytes(23)],
    ["of 65 bytes", ofBytes(65)],
    ["without its prefix", randomBytes(32).toString("base64")],
    ["with nothing after its prefix", "whsec_"],
    ["in base64url", `whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`],
    ["without its padding", newWebhookSecret().slice(0, -1)],
    ["with a space", `${newWebhookSecret()} `],
    ["that is empty", ""],
  ])("%s is refused", (_name, secret) => {
    expect(() => checkedWebhookSecret(secret)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

describe("a replacement", () => {
  const first = { name: "first" };
  const second = { name: "second" };
  const third = { name: "third" };
  const names = (pair: Parameters<typeof signingNow<{ name: string }>>[0], at: Date) =>
    signingNow(pair, at).map(({ name }) => name);

  test("keeps the previous secret for 24 h, after the new one", () => {
    const pair = replaced({ current: first }, second, { endPreviousNow: false, now });
    expect(names(pair, now)).toEqual(["second", "first"]);
    expect(names(pair, later(OVERLAP_MS - 1))).toEqual(["second", "first"]);
    expect(names(pair, later(OVERLAP_MS))).toEqual(["second"]);
  });

  test("can end the previous secret immediately, also one of an earlier rotation", () => {
    const rotated = replaced({ current: first }, second, { endPreviousNow: false, now });
    expect(names(replaced(rotated, third, { endPreviousNow: true, now }), now)).toEqual(["third"]);
  });
});
