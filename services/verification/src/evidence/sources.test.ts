import { expect, test } from "@jest/globals";
import type { EvidenceWithContent } from "../documents.ts";
import { sourcesOfEvidence } from "./sources.ts";

const of = (content: unknown, more: Partial<EvidenceWithContent> = {}) =>
  sourcesOfEvidence({
    check_type: "sam_registration",
    content: typeof content === "string" ? content : JSON.stringify(content),
    ...more,
  } as EvidenceWithContent);
const names = { registry_file: "MONTHLY.dat", exclusions_file: "EXCLUSIONS.csv" };
const cut = { origin: "sam_gov_extract", date: "2026-11-01T00:00:00.000Z" };
const exclusions = { origin: "sam_gov_exclusions", date: "2026-11-22T00:00:00.000Z" };
const asked = { origin: "sam_gov_api", date: "2026-11-23T09:30:04.000Z" };

test.each([
  [
    "files",
    { ...names, rests_on: { registration: cut, exclusions } },
    { ...cut, part: "registration", date: new Date(cut.date), file: "MONTHLY.dat" },
  ],
  [
    "the API, with the file that completed it",
    { answers: [], files: names, rests_on: { registration: asked, exclusions } },
    { ...asked, part: "registration", date: new Date(asked.date) },
  ],
])("older evidence of %s names its sources by its content", (_, content, registration) => {
  const excluding = { ...exclusions, part: "exclusions", date: new Date(exclusions.date), file: "EXCLUSIONS.csv" };
  expect(of(content)).toEqual([registration, excluding]);
});

test("what is stored beside the content comes first", () => {
  const sources = [{ part: "registration", origin: "sam_gov_api", date: new Date(asked.date) } as const];
  expect(of({ ...names, rests_on: { exclusions } }, { sources })).toBe(sources);
});

test.each([
  ["of the sandbox", { answered_at: "2026-11-23T09:30:04.000Z" }, {}],
  ["of another check", "no JSON", { check_type: "tin_match" as const }],
  ["without an answer", "", {}],
])("evidence %s has no sources", (_, content, more) => {
  expect(of(content, more)).toEqual([]);
});
