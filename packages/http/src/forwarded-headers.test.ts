import { expect, test } from "@jest/globals";
import { createForwardedWatch, forwardedContradiction } from "./forwarded-headers.ts";

test.each([
  [0, {}, undefined],
  [0, { "x-forwarded-for": "198.51.100.7" }, "none_trusted"],
  [0, { forwarded: "for=198.51.100.7" }, "none_trusted"],
  [1, { "x-forwarded-for": "198.51.100.7" }, undefined],
  [1, { "x-forwarded-for": "198.51.100.7", forwarded: "for=198.51.100.7" }, undefined],
  [1, {}, "fewer"],
  [1, { forwarded: "for=198.51.100.7" }, "fewer"],
  [2, { "x-forwarded-for": "198.51.100.7" }, "fewer"],
  [2, { "x-forwarded-for": "198.51.100.7, , 10.0.0.2" }, undefined],
  [1, { "x-forwarded-for": "203.0.113.9, 198.51.100.7" }, "more"],
])("with %d trusted proxies, %j is %s", (hops, headers, expected) => {
  expect(forwardedContradiction(headers, hops)).toBe(expected);
});

test("each kind of contradiction is logged once, without text of the client", () => {
  const lines: unknown[] = [];
  const watch = createForwardedWatch({
    trustedProxyHops: 1,
    logger: { warn: (...line: unknown[]) => void lines.push(line) } as never,
  });
  for (let request = 0; request < 100; request++) {
    watch({ headers: {} });
    watch({ headers: { "x-forwarded-for": "123456789, 198.51.100.7" } });
    watch({ headers: { "x-forwarded-for": "198.51.100.7" } });
  }
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toMatch(/123456789|198\.51/);
});
