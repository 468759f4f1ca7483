import { describe, expect, test } from "@jest/globals";
import type { Parts } from "@vvs/registration";
import { exclusionsPart } from "../../testing/parts.ts";
import { type Files, samGovForEachTest, UEI, verdictIn } from "../../testing/sam-gov-api.ts";

const NOW = new Date("2026-11-21T09:30:00.000Z");
const { sam, ask } = samGovForEachTest(NOW);

describe("exclusions are asked for", () => {
  const file = (exclusionsCutDate: string, exclusions: object[] = []): Files => ({
    exclusionsCutDate,
    exclusions,
    exclusionsLoad: "exclusions:1",
  });
  const row = { program: "Reciprocal", terminationDate: "indefinite" };
  const storedAt = (at: string, flagged: boolean, load = ""): Parts => ({
    exclusions: exclusionsPart(new Date(at), {
      ...{ flagged, load },
      origin: load ? "sam_gov_exclusions" : "sam_gov_api",
    }),
  });
  const cases: [string, string | null, Files | undefined, Parts | undefined, number, string][] = [
    ["where the registration flags one", "Y", undefined, undefined, 1, "fail excluded 2026-11-21T09:30"],
    ["not where it flags none and yesterday's file has none", "N", file("2026-11-20"), undefined, 0, "pass 2026-11-20"],
    [
      "not where it says none and today's file has none",
      "N",
      file("2026-11-21"),
      undefined,
      0,
      "pass 2026-11-21T00:00",
    ],
    ["where the file is two days old", "N", file("2026-11-19"), undefined, 1, "pass 2026-11-21T09:30"],
    ["where the file has one", "N", file("2026-11-21", [row]), undefined, 1, "pass 2026-11-21T09:30"],
    ["where no file is loaded", "N", undefined, undefined, 1, "pass 2026-11-21T09:30"],
    ["where the file is dated later than tomorrow", "N", file("2026-11-23"), undefined, 1, "pass 2026-11-21T09:30"],
    ["where the registration has no flag", null, file("2026-11-21"), undefined, 1, "pass 2026-11-21T09:30"],
    [
      "where a stored answer newer than the file has one",
      "N",
      file("2026-11-21"),
      storedAt("2026-11-21T08:00:00Z", true),
      1,
      "pass 2026-11-21T09:30",
    ],
    [
      "not where a stored answer newer than the file has none either",
      "N",
      file("2026-11-21"),
      storedAt("2026-11-21T08:00:00Z", false),
      0,
      "pass 2026-11-21T08:00",
    ],
  ];
  test.each(cases)("%s", async (_name, exclusionFlag, files, stored, calls, expected) => {
    sam.register({ uei: UEI, exclusionFlag });
    const answer = await ask(files, { stored });
    expect(sam.calls("exclusions")).toHaveLength(calls);
    const { date } = answer.parts!.exclusions!;
    expect(`${verdictIn(answer)} ${date.toISOString()}`).toContain(expected);
    expect(answer.parts!.registration!.date).toEqual(NOW);
    expect(answer.dataDate).toEqual(date);
  });

  test.each([
    ["file", file("2026-11-18"), undefined, "pass"],
    ["file that is too old", file("2026-11-17"), undefined, "http_503"],
    ["stored answer", undefined, storedAt("2026-11-18T10:00:00Z", false), "pass"],
    ["stored answer that is too old", undefined, storedAt("2026-11-18T09:00:00Z", false), "http_503"],
    ["stored answer, excluded", undefined, storedAt("2026-11-01T09:00:00Z", true), "fail excluded"],
    [
      "stored answer, but not of a file while it is unknown which files were withdrawn",
      undefined,
      storedAt("2026-11-20T00:00:00Z", true, "exclusions:1"),
      "http_503",
    ],
  ])("and where they can't be had, what is known of them serves: a %s", async (_name, files, stored, expected) => {
    sam.register({ uei: UEI });
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    const answer = await ask(files, { stored }).then(verdictIn, ({ reason }) => reason);
    expect(answer).toBe(expected);
  });

  test("and the evidence holds the file that confirmed that there are none", async () => {
    sam.register({ uei: UEI });
    const files = { ...file("2026-11-21"), exclusionsFile: "exclusions.csv" };
    const { content, sources } = await ask(files);
    expect(sources).toMatchObject([{ part: "registration" }, { part: "exclusions", file: "exclusions.csv" }]);
    expect(JSON.parse(content)).toMatchObject({
      answers: [{ body: { totalRecords: 1 } }],
      files: { exclusions: [] },
      rests_on: { registration: { origin: "sam_gov_api" }, exclusions: { origin: "sam_gov_exclusions" } },
    });
  });
});
