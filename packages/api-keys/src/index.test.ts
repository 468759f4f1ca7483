import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { apiKeyHint, generateApiKey, hashApiKey, isScope, parseApiKey, scopes } from "./index.ts";

describe("the format of a key", () => {
  test.each([
    ["live", "svc_live_"],
    ["sandbox", "svc_test_"],
  ] as const)(
    "a new %s key begins with %s, has the documented shape and names its environment",
    (environment, prefix) => {
      const key = generateApiKey(environment);
      expect(key).toMatch(/^svc_(live|test)_[0-9A-Za-z]{38}$/);
      expect(key.startsWith(prefix)).toBe(true);
      expect(parseApiKey(key)).toEqual({ environment });
    },
  );

  test("the checksum is CRC-32 in base62, so that others can check keys too", () => {
    // CRC-32 of the first 41 characters is 0x65ea605e, computed with another language's zlib.
    expect(parseApiKey("svc_test_000000000000000000000000000000001riOPW")).toEqual({ environment: "sandbox" });
  });

  test("any single wrong character is refused without a look-up", () => {
    const key = generateApiKey("live");
    for (let index = 0; index < key.length; index++) {
      const other = key[index] === "a" ? "b" : "a";
      expect(parseApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBeUndefined();
    }
  });

  test.each([
    ["nothing", ""],
    ["a shorter one", generateApiKey("live").slice(0, -1)],
    ["a longer one", `${generateApiKey("live")}0`],
    ["one with a line break", `${generateApiKey("live")}\n`],
    ["the other environment's prefix", generateApiKey("live").replace("live", "test")],
    ["no known prefix", generateApiKey("live").replace("live", "prod")],
    ["characters outside base62", generateApiKey("live").replace(/.$/, "-")],
  ])("%s is not a key", (_name, text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  test("all characters are used about equally often", () => {
    const counts = new Map<string, number>();
    const keys = 4_000;
    for (let n = 0; n < keys; n++) {
      for (const character of generateApiKey("live").slice(9, 41)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (keys * 32) / 62;
    expect(counts.size).toBe(62);
    // 250 would be more than five standard deviations; a plain remainder would favour eight characters by a quarter.
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(250);
  });

  test("people see the prefix and the first and last four characters", () => {
    expect(apiKeyHint("svc_live_Ab3xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwxyz")).toEqual({
      start: "svc_live_Ab3x",
      lastFour: "wxyz",
    });
  });
});

describe("the hash of a key", () => {
  const newer = { id: "p2", key: randomBytes(32) };
  const older = { id: "p1", key: randomBytes(32) };

  test("is made with each pepper, the newest first, so that keys stay valid while a pepper rotates", () => {
    const key = generateApiKey("live");
    const before = hashApiKey([older], key);
    const during = hashApiKey([newer, older], key);
    expect(during.map(({ pepperId }) => pepperId)).toEqual(["p2", "p1"]);
    expect(during[1]).toEqual(before[0]);
    expect(during[0]!.hash).toHaveLength(32);
    expect(during[0]!.hash).not.toEqual(during[1]!.hash);
  });
});

test("the scopes are the six of the public interface", () => {
  expect(scopes).toHaveLength(6);
  expect(isScope("monitors:write")).toBe(true);
  expect(isScope("monitors:delete")).toBe(false);
});
