import { expect, test } from "@jest/globals";
import { createSearchLimit } from "./search-input.ts";

test("each organization's users share one search limit per minute, set by its plan and not affected by others", () => {
  let seconds = 0;
  const count = createSearchLimit({ now: () => new Date(seconds * 1_000) });
  for (; seconds < 3; seconds++) count("org_a", 3);
  expect(() => count("org_a", 3)).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 57 }));
  count("org_b", 3);
  seconds = 60;
  count("org_a", 3);
  expect(() => count("org_a", 3)).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 }));
});
