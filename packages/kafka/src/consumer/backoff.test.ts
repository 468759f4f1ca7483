import { expect, test } from "@jest/globals";
import { within } from "./backoff.ts";

test("a promise that takes too long resolves to undefined, and one that fails throws its error", async () => {
  expect(await within(5, new Promise(() => undefined))).toBeUndefined();
  expect(await within(60_000, Promise.resolve("done"))).toBe("done");
  await expect(within(60_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
});
