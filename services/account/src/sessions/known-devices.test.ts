import { expect, test } from "@jest/globals";
import { testKey } from "../testing/account.ts";
import { createKnownDevices, KNOWN_MS } from "./known-devices.ts";

const clock = { now: new Date("2026-11-20T08:00:00Z") };
const now = () => clock.now;
const [older, newer] = [testKey("k1"), testKey("k2")];
const devices = createKnownDevices({ keys: [newer, older], now });
const token = createKnownDevices({ keys: [older], now }).issue("usr_ada");

test("a device is known to its user, also after the key was replaced, and to nobody else", () => {
  expect(devices.idOf(token, "usr_ada")).toMatch(/^[0-9a-f]{64}$/);
  expect(devices.idOf(token, "usr_eve")).toBeUndefined();
  expect(createKnownDevices({ keys: [newer], now }).idOf(token, "usr_ada")).toBeUndefined();
});

test("each sign-in makes another device, whose token fits a cookie", () => {
  const again = devices.issue("usr_ada");
  expect(devices.idOf(again, "usr_ada")).not.toBe(devices.idOf(token, "usr_ada"));
  expect(again).toMatch(/^[\w-]{16,128}$/);
});

const changedAt = (at: number) => `${token.slice(0, at)}${token[at] === "a" ? "b" : "a"}${token.slice(at + 1)}`;

test.each([
  ["nothing", ""],
  ["a shorter one", token.slice(0, -2)],
  ["a longer one", `${token}aa`],
  ["another id", changedAt(0)],
  ["a later time", `${token.slice(0, 26)}_${token.slice(27)}`],
  ["another signature", changedAt(40)],
])("a token that was changed is not known: %s", (_name, changed) => {
  expect(changed).not.toBe(token);
  expect(devices.idOf(changed, "usr_ada")).toBeUndefined();
});

test("a device is forgotten a year after its last sign-in", () => {
  clock.now = new Date(clock.now.getTime() + KNOWN_MS - 1);
  expect(devices.idOf(token, "usr_ada")).toBeDefined();
  clock.now = new Date(clock.now.getTime() + 1);
  expect(devices.idOf(token, "usr_ada")).toBeUndefined();
});
