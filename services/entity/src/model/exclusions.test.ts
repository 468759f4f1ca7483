import { describe, expect, test } from "@jest/globals";
import type { ExclusionPeriodDocument } from "./documents.ts";
import { isInForce } from "./exclusions.ts";

describe("an exclusion is in force", () => {
  test.each<[string, ExclusionPeriodDocument, boolean]>([
    ["while indefinite", { termination_date: "indefinite" }, true],
    ["without an end", {}, true],
    ["on its last day", { termination_date: "2026-11-21" }, true],
    ["not after it", { termination_date: "2026-11-20" }, false],
    ["from its first day", { active_date: "2026-11-21", termination_date: "indefinite" }, true],
    ["not before it", { active_date: "2026-11-22", termination_date: "indefinite" }, false],
  ])("%s", (_, exclusion, expected) => expect(isInForce(exclusion, "2026-11-21")).toBe(expected));
});
