import { describe, expect, test } from "@jest/globals";
import type { Parts } from "@vvs/registration";
import { questionOf } from "../../testing/calls.ts";
import { exclusionsPart, registrationPart } from "../../testing/parts.ts";
import {
  type Files,
  type FilesBy,
  playedExtract,
  samGovForEachTest,
  stateIn,
  type TestQuestion,
  UEI,
} from "../../testing/sam-gov-api.ts";

// An exclusion may name its vendor only by its CAGE. SAM.gov's API does not return it for the vendor's UEI.

const NOW = new Date("2026-11-21T17:30:00.000Z");
const API = { origin: "sam_gov_api", load: "" };
const { sam, ask, ...samGov } = samGovForEachTest(NOW);

const row = (effect: string, more: object = {}) => ({
  ...{ effect, terminationDate: "indefinite", withoutUei: true },
  ...more,
});
const file = (exclusions: object[], more: object = {}): Files => ({
  ...{ exclusionsCutDate: "2026-11-21", exclusionsLoad: "exclusions:1", exclusionsFile: "today.csv", exclusions },
  ...more,
});
const askFiles = (files: Files | FilesBy, stored: Parts | undefined, more: TestQuestion = {}) =>
  samGov.askFiles(files, stored, { hasApi: true, ...more });

test.each([
  ["a bar", row("bar"), "fail excluded debarred bar"],
  ["one of a facility", row("facility"), "fail excluded debarred facility"],
  ["one of products", row("product"), "pass active product"],
  ["one with a UEI, which SAM.gov has ended", row("bar", { withoutUei: false }), "pass active"],
])("the file's row without a UEI counts beside the API's answer: %s", async (_name, known, expected) => {
  sam.register({ uei: UEI });
  const { parts, ...answer } = await ask(file([known]));
  expect(stateIn(answer)).toBe(expected);
  expect(parts!.exclusions).toMatchObject({ origin: "sam_gov_api", date: NOW });
  expect(stateIn(await askFiles(file([known]), parts))).toBe(expected);
});

test("the API's rows count as well, and the file is named as a source", async () => {
  sam.register({ uei: UEI, exclusionFlag: "Y" });
  sam.exclude({ uei: UEI });
  const { details, sources, content } = await ask(file([row("product")], { exclusionsCutDate: "2026-11-19" }));
  expect(details!.exclusions!.map(({ effect }) => effect)).toEqual(["bar", "product"]);
  for (const shown of details!.exclusions!) expect(shown).not.toHaveProperty("without_uei");
  expect(sources).toContainEqual({ part: "exclusions", origin: "sam_gov_api", date: NOW, file: "today.csv" });
  expect(JSON.parse(content)).toMatchObject({ files: { exclusions: [{ effect: "product", without_uei: true }] } });
});

test("a kept answer of the API gets it too, and is in the evidence", async () => {
  const date = new Date("2026-11-21T08:00:00Z");
  const registration = registrationPart(date, { cage: "4AB12" });
  const kept: Parts = { registration, exclusions: exclusionsPart(date) };
  const bodies = [{ url: "https://sam/exclusions?ueiSAM=U", receivedAt: date, text: "{}" }];
  const provider = playedExtract({ files: file([row("bar")]), now: NOW, hasApi: true });
  const stored: Parts = { registration: { ...registration, date: NOW } };
  const question = questionOf({ uei: UEI, stored, kept: { parts: kept, bodies, asked_at: date } });
  const { content, parts, ...answer } = await provider.ask(question, { signal: AbortSignal.timeout(20_000) });
  expect(stateIn(answer)).toBe("fail excluded debarred bar");
  expect(parts!.exclusions!.date).toEqual(date);
  expect(JSON.parse(content)).toMatchObject({
    answers: [{ url: bodies[0]!.url }],
    rests_on: { exclusions: { origin: "sam_gov_api" } },
  });
});

test.each([
  ["a later file no longer has it", file([], { exclusionsLoad: "exclusions:2" })],
  [
    "its file is withdrawn",
    file([], { exclusionsCutDate: "2026-11-20", exclusionsLoad: "exclusions:0", withdrawnLoads: ["exclusions:1"] }),
  ],
])("a stored answer loses it where %s, and keeps what the API said", async (_name, files) => {
  sam.register({ uei: UEI });
  sam.exclude({ uei: UEI, agencyCode: "EPA", ctCode: "H" });
  const { parts } = await ask(file([row("bar")]));
  expect(parts!.exclusions!.load).toBe("exclusions:1");
  const later = await askFiles(files, parts);
  expect(stateIn(later)).toBe("fail excluded debarred facility");
  expect(later.parts!.exclusions).toMatchObject({ ...API, date: NOW, exclusions: [{ effect: "facility" }] });
});

describe("a CAGE that only SAM.gov's API gives", () => {
  const byCage: FilesBy = (_names, { cage }) => file(cage === "1ZZ99" ? [row("bar")] : []);

  test("is looked up in the exclusions file, by the API's provider and by the extract's", async () => {
    sam.register({ uei: UEI, cage: "1ZZ99" });
    const { parts, ...answer } = await ask(byCage);
    expect(stateIn(answer)).toBe("fail excluded debarred bar");
    const stored = { registration: { ...parts!.registration!, date: new Date("2026-11-20T08:00:00Z") } };
    expect(stateIn(await askFiles(byCage, stored))).toBe("fail excluded debarred bar");
  });

  test("does not hide the exclusions of the CAGE in question", async () => {
    sam.register({ uei: UEI, cage: "1ZZ99" });
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    const files: FilesBy = (_names, { cage }) => file([row(cage === "1ZZ99" ? "product" : "bar")]);
    const { details, ...answer } = await ask(files, { cage: "9OLD9" });
    expect(stateIn(answer)).toBe("fail excluded debarred bar");
    expect(details!.exclusions!.map(({ effect }) => effect)).toEqual(["bar", "product"]);
  });
});

describe("a vendor that is known only by its CAGE and that the extract lacks", () => {
  const onlyCage = { uei: "", cage: "4AB12" };
  const named = row("facility", { withoutUei: false });
  const byUei: FilesBy = (_names, { uei }) => file(uei === UEI ? [named] : []);

  test("is looked up there by the UEI that SAM.gov's API gives, and by that of an earlier answer", async () => {
    sam.register({ uei: UEI, cage: "4AB12" });
    const { registration } = (await ask(file([]), onlyCage)).parts!;
    const stored = { registration: { ...registration!, date: new Date("2026-11-20T08:00:00Z") } };
    // Rows that name the CAGE clear nobody of those that name the UEI.
    const both: FilesBy = (_names, { uei }) => file(uei === UEI ? [named, row("product")] : [row("product")]);
    for (const files of [both, byUei])
      expect(stateIn(await askFiles(files, stored, onlyCage))).toBe("fail excluded debarred facility");
    sam.forget(UEI);
    sam.register({ uei: UEI, cage: "4AB12", exclusionFlag: "Y" });
    expect(stateIn(await ask(byUei, onlyCage))).toBe("fail excluded debarred facility");
    expect(sam.calls("exclusions")).toHaveLength(0);
  });

  test("and that SAM.gov doesn't know, has its exclusions asked for by the CAGE", async () => {
    await ask(file([]), onlyCage);
    expect(sam.calls("exclusions").map(({ query }) => query.cageCode)).toEqual(["4AB12"]);
  });
});
