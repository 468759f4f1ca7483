import { expect, test } from "@jest/globals";
import { within } from "./backoff.ts";

test("a promise that takes too long gives undefined, and the error of one that fails is thrown", async () => {
  expect(await within(5, new Promise(() => undefined))).toBeUndefined();
  expect(await within(60_000, Promise.resolve("done"))).toBe("done");
  await expect(within(60_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
});
