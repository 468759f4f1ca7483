import { describe, expect, test } from "@jest/globals";
import { type ExclusionsPart, factsOf, type Parts, type RegistrationPart, verdictOf } from "@vvs/registration";
import { type Baseline, detect, type Outcome } from "./detect.ts";

// Older data changes nothing, from any source: each part is compared by its own date.

const inputsFingerprint = Buffer.from("uei");
const NOW = new Date("2026-11-22T08:00:00Z");

const registration = (origin: string, date: string, more: Partial<RegistrationPart> = {}): RegistrationPart => ({
  origin,
  date: new Date(date),
  load: origin === "sam_gov_api" ? "" : `registry:${date}`,
  listed_as: "active",
  id_only: false,
  expiration_date: "2027-03-01",
  legal_name: "ACME LLC",
  cage: "1AB23",
  entity_type: "Corporate Entity",
  ...more,
});
const exclusions = (origin: string, date: string, flagged = false): ExclusionsPart => ({
  origin,
  date: new Date(date),
  load: origin === "sam_gov_api" ? "" : `exclusions:${date}`,
  flagged,
  exclusions: [],
});
const api = (date: string, more: Partial<RegistrationPart> = {}, flagged = false): Parts => ({
  registration: registration("sam_gov_api", date, more),
  exclusions: exclusions("sam_gov_api", date, flagged),
});
/** The parts from the extract and the exclusions file of these days. */
const files = (
  extract: string,
  exclusionsFile: string,
  more: Partial<RegistrationPart> = {},
  flagged = false,
): Parts => ({
  registration: registration("sam_gov_extract", extract, more),
  exclusions: exclusions("sam_gov_exclusions", exclusionsFile, flagged),
});

function outcomeOf(parts: Parts | "error", withdrawnLoads: string[] = []): Outcome {
  const shared = { check: "sam_registration" as const, inputsFingerprint, withdrawnLoads };
  if (parts === "error") return { ...shared, status: "error", reason: "stale_source", facts: {} };
  const verdict = verdictOf(parts, "2026-11-22")!;
  const facts = { ...factsOf(parts, verdict, "2026-11-22") };
  return { ...shared, status: verdict.outcome, reason: verdict.reason, facts, parts };
}

/** Runs 1, 2, …: returns the changes of each as texts, and the baseline after the last. */
function runAll(outcomes: readonly Outcome[]) {
  let baseline: Baseline | undefined;
  const reported = outcomes.map((outcome, index) => {
    const detection = detect(baseline, { seq: index + 1, at: NOW }, outcome);
    baseline = detection.baseline ?? baseline;
    return detection.changes.map(({ field, previous, current }) => `${field.slice(17)} ${previous} ${current}`);
  });
  return { reported, baseline: baseline! };
}

const DEBARRED = ["status pass fail", "registration_status active debarred", "exclusion_effect null bar"];
const CLEARED = ["status fail pass", "registration_status debarred active", "exclusion_effect bar null"];
const end = (expiration_date: string) => ({ expiration_date });
const EXPIRES_2026 = end("2026-12-31");
const T1 = "2026-11-01T10:00:00Z";
const T2 = "2026-11-20T10:00:00Z";
const EARLIER = "2026-10-30";
const LATER = "2026-11-15";

describe("the next runs report", () => {
  test.each<[string, (Parts | "error")[], string[][]]>([
    ["API, older extract, API: nothing", [api(T1), files(EARLIER, EARLIER, EXPIRES_2026), api(T2)], [[], [], []]],
    ["API, an error, API: nothing", [api(T1), "error", api(T2)], [[], [], []]],
    [
      "API, newer extract: the change",
      [api(T1), files(LATER, LATER, EXPIRES_2026)],
      [[], ["expiration_date 2027-03-01 2026-12-31"]],
    ],
    [
      "extract, newer API: the change",
      [files(EARLIER, EARLIER, EXPIRES_2026), api(T1)],
      [[], ["expiration_date 2026-12-31 2027-03-01"]],
    ],
    ["newer API, older API: nothing", [api(T2), api(T1, EXPIRES_2026)], [[], []]],
    ["newer extract, older extract: nothing", [files(LATER, LATER), files(EARLIER, LATER, EXPIRES_2026)], [[], []]],
    [
      "the same extract, corrected: the change",
      [files(LATER, LATER), files(LATER, LATER, EXPIRES_2026)],
      [[], ["expiration_date 2027-03-01 2026-12-31"]],
    ],
    [
      "newer exclusions beside an older extract: debarred, and nothing else",
      [api(T1), files(EARLIER, LATER, EXPIRES_2026, true)],
      [[], DEBARRED],
    ],
    [
      "older exclusions beside a newer extract",
      [api(T1), files(LATER, EARLIER, EXPIRES_2026, true)],
      [[], ["expiration_date 2027-03-01 2026-12-31"]],
    ],
    [
      "older exclusions that exclude the vendor: nothing",
      [api(T1), files(EARLIER, EARLIER, {}, true), api(T2)],
      [[], [], []],
    ],
    [
      "an exclusion that ended: once, though an older file still has it",
      [api(T1, {}, true), files(EARLIER, LATER), files(EARLIER, EARLIER, {}, true), api(T2)],
      [[], CLEARED, [], []],
    ],
    [
      "a new exclusion: once, though an older source lacks it",
      [api(T1), files(EARLIER, LATER, {}, true), files(EARLIER, EARLIER), api(T2, {}, true)],
      [[], DEBARRED, [], []],
    ],
    [
      "a lapsed vendor: once, though an older extract has it active",
      [files(EARLIER, EARLIER), api(T1, end("2026-10-31")), files(EARLIER, LATER)],
      [[], ["status pass fail", "registration_status active expired", "expiration_date 2027-03-01 2026-10-31"], []],
    ],
    [
      "a renewed vendor: once, though an older extract has it expired",
      [
        files(EARLIER, EARLIER, { listed_as: "expired", ...end("2026-10-01") }),
        api(T1),
        files(EARLIER, LATER, { listed_as: "expired", ...end("2026-10-01") }),
      ],
      [[], ["status fail pass", "registration_status expired active", "expiration_date 2026-10-01 2027-03-01"], []],
    ],
    [
      "a vendor that is no longer listed: once, though an older extract lists it",
      [files(EARLIER, EARLIER), api(T1, { listed_as: "not_found" }), files(EARLIER, LATER)],
      [
        [],
        [
          "status pass fail",
          "registration_status active null",
          "expiration_date 2027-03-01 null",
          "legal_name ACME LLC null",
          "cage 1AB23 null",
          "entity_type Corporate Entity null",
        ],
        [],
      ],
    ],
    [
      "exclusions of a vendor that the extract lacks",
      [api(T1), { exclusions: exclusions("sam_gov_exclusions", LATER, true) }],
      [[], DEBARRED],
    ],
    [
      "a registration without exclusion data keeps the exclusion",
      [api(T1, {}, true), { registration: registration("sam_gov_extract", LATER) }],
      [[], []],
    ],
  ])("%s", (_name, parts, expected) => {
    expect(runAll(parts.map((each) => outcomeOf(each))).reported).toEqual(expected);
  });

  test("a registration that expired after its part's date, with newer exclusions: nothing, as it may be renewed", () => {
    const active = { ...outcomeOf(api(T1)), parts: api(T1, end("2026-11-21")) };
    const { reported, baseline } = runAll([active, outcomeOf(files(EARLIER, LATER))]);
    expect(reported).toEqual([[], []]);
    expect(baseline.parts!.exclusions!.date).toEqual(new Date(LATER));
  });
});

describe("the baseline", () => {
  test("keeps each part with its origin and date until an equal or newer one arrives", () => {
    const [first, second] = [api(T1), files(EARLIER, LATER)];
    expect(runAll([outcomeOf(first), outcomeOf(second)]).baseline).toMatchObject({
      runSeq: 2,
      parts: { registration: first.registration, exclusions: second.exclusions },
    });
  });

  test("of a withdrawn load is older than everything", () => {
    const bad = files(LATER, LATER, EXPIRES_2026);
    const good = outcomeOf(files(EARLIER, EARLIER), [`registry:${LATER}`]);
    const { reported, baseline } = runAll([outcomeOf(bad), good]);
    expect(reported).toEqual([[], ["expiration_date 2026-12-31 2027-03-01"]]);
    expect(baseline.parts!.registration!.date).toEqual(new Date(EARLIER));
    expect(baseline.parts!.exclusions!.date).toEqual(new Date(LATER));
  });

  test("that explained a flag at the flag's time gives way to the flag once its load is withdrawn, and a later one to a file", () => {
    const explained = (load: string) => ({ ...api(T2), exclusions: { ...files(T2, T2).exclusions!, load } });
    const flag = outcomeOf(api(T2, {}, true), ["exclusions:bad"]);
    const again = outcomeOf(explained("exclusions:good"), ["exclusions:bad"]);
    const { reported } = runAll([outcomeOf(explained("exclusions:bad")), flag, flag, again, again]);
    expect(reported).toEqual([[], DEBARRED, [], CLEARED, []]);
  });

  test("dated later than tomorrow is older than everything", () => {
    const { reported } = runAll([outcomeOf(files("2027-11-01", "2027-11-01", EXPIRES_2026)), outcomeOf(api(T1))]);
    expect(reported).toEqual([[], ["expiration_date 2026-12-31 2027-03-01"]]);
  });

  test("that was stored without effects counts as barred, and its first known effect is silent", () => {
    const outcomes = (["", "product", "facility"] as const).map((effect, index) => {
      const part = exclusions("sam_gov_exclusions", `2026-11-${15 + index}`, false);
      const row = { program: "", type: "", agency: "", active_date: "", termination_date: "indefinite" };
      const stored = { ...part, exclusions: [{ ...row, ...(effect && { effect }) }] };
      return outcomeOf({ ...files(LATER, LATER), exclusions: stored });
    });
    const { exclusion_effect: _, ...factsBefore } = outcomes[0]!.facts;
    const { reported } = runAll([{ ...outcomes[0]!, facts: factsBefore }, ...outcomes.slice(1)]);
    expect(reported).toEqual([
      [],
      ["status fail pass", "registration_status debarred active"],
      ["status pass fail", "registration_status active debarred", "exclusion_effect product facility"],
    ]);
  });

  test("of other inputs is replaced even by older parts, and compared with them", () => {
    const other = { ...outcomeOf(files(EARLIER, EARLIER, EXPIRES_2026)), inputsFingerprint: Buffer.from("other") };
    const { reported, baseline } = runAll([outcomeOf(api(T1)), other]);
    expect(reported).toEqual([[], ["expiration_date 2027-03-01 2026-12-31"]]);
    expect(baseline.parts).toEqual(other.parts);
  });

  test("without parts takes those of the next run", () => {
    const { parts: _, ...sandboxed } = outcomeOf(api(T1));
    const { reported, baseline } = runAll([sandboxed, outcomeOf(files(EARLIER, EARLIER, EXPIRES_2026))]);
    expect(reported).toEqual([[], ["expiration_date 2027-03-01 2026-12-31"]]);
    expect(baseline.parts!.registration!.origin).toBe("sam_gov_extract");
  });
});
