import { describe, expect, test } from "@jest/globals";
import type { Exclusion, Parts } from "@vvs/registration";
import { type PlayedExclusion, PRODUCTS_ONLY } from "../../../../../test/outside/sam-gov-rows.ts";
import { exclusionsPart } from "../../testing/parts.ts";
import { type Files, samGovForEachTest, stateIn, UEI } from "../../testing/sam-gov-api.ts";
import type { Answer } from "../provider.ts";
import { withoutFiles } from "./file-parts.ts";
import { apiSource } from "./shapes.ts";

const NOW = new Date("2026-11-21T17:30:00.000Z");
const { sam, ask, askFiles } = samGovForEachTest(NOW);

const product = { agencyCode: "GSA", comments: PRODUCTS_ONLY };
const facility = { agencyCode: "EPA", ctCode: "H" };
const bar = {};
const times = (count: number, played: Partial<PlayedExclusion>) =>
  Array.from({ length: count }, (_, index) => ({ ...played, name: `Exclusion ${index}` }));
const NOT_FLAGGED = "N";

function flagged(...exclusions: Partial<PlayedExclusion>[]): void {
  sam.register({ uei: UEI, exclusionFlag: "Y" });
  for (const each of exclusions) sam.exclude({ uei: UEI, ...each });
}

/** What the loaded files say. */
const extract = async (files: Files, stored?: Parts) => stateIn(await askFiles(files, stored));

describe("the rows of the Exclusions API decide what a flag means", () => {
  test.each<[string, Partial<PlayedExclusion>[], string]>([
    ["a restriction of products fails nothing", [product], "pass active product"],
    ["a facility fails", [facility], "fail excluded debarred facility"],
    ["a bar fails", [bar], "fail excluded debarred bar"],
    ["the strongest counts", [product, facility, bar], "fail excluded debarred bar"],
    ["a facility beside products", [product, facility], "fail excluded debarred facility"],
    ["a bar that begins later fails nothing yet", [{ activateDate: "11-22-2026" }], "pass active"],
    ["no row at all counts as a bar", [], "fail excluded debarred bar"],
    [
      "rows that have ended count as a bar, since the flag says otherwise",
      [{ terminationDate: "11-01-2026" }],
      "fail excluded debarred bar",
    ],
  ])("%s", async (_name, exclusions, expected) => {
    flagged(...exclusions);
    expect(stateIn(await ask())).toBe(expected);
  });

  test("and details show each with its effect and comment", async () => {
    flagged(product, bar);
    const { details } = await ask();
    expect(details!.exclusions!.map(({ effect, comment }) => [effect, comment])).toEqual([
      ["bar", undefined],
      ["product", PRODUCTS_ONLY],
    ]);
    expect(details).not.toHaveProperty("exclusion_effect");
  });

  test("and a flag counts as a bar where they can't be had", async () => {
    flagged(product);
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    expect(stateIn(await ask())).toBe("fail excluded debarred bar");
  });
});

describe("the exclusions file decides what a flag means", () => {
  const file = (exclusionsCutDate: string, ...effects: string[]): Files => ({
    exclusionsCutDate,
    exclusionsLoad: "exclusions:1",
    exclusions: effects.map((effect) => ({ terminationDate: "indefinite", effect, comment: "as in the file" })),
  });
  test.each<[string, Files, number, string]>([
    ["where it is of today and names a product", file("2026-11-21", "product"), 0, "pass active product"],
    [
      "where it is of yesterday and names a facility",
      file("2026-11-20", "facility"),
      0,
      "fail excluded debarred facility",
    ],
    ["where its row was stored without an effect: a bar", file("2026-11-21", ""), 0, "fail excluded debarred bar"],
    ["not where it is two days old", file("2026-11-19", "product"), 1, "fail excluded debarred bar"],
    ["not where it names none", file("2026-11-21"), 1, "fail excluded debarred bar"],
  ])("%s", async (_name, files, calls, expected) => {
    flagged(bar);
    const answer = await ask(files);
    expect(stateIn(answer)).toBe(expected);
    expect(sam.calls("exclusions")).toHaveLength(calls);
    if (calls === 0) expect(answer.details!.exclusions).toMatchObject([{ comment: "as in the file" }]);
  });

  const record = { uei: UEI, extractCode: "A", expirationDate: "2027-03-01", excluded: true };
  const listed = (registryCutDate: string, files: object): Files => ({
    record,
    registryCutDate,
    registryLoad: "registry:1",
    ...files,
  });
  test.each<[string, Files, string]>([
    ["of the extract, for products", listed("2026-11-01", file("2026-11-21", "product")), "pass active product"],
    ["of an extract that is a day newer", listed("2026-11-21", file("2026-11-20", "product")), "pass active product"],
    [
      "of an extract that is two days newer: a bar",
      listed("2026-11-21", file("2026-11-19", "product")),
      "fail excluded debarred bar",
    ],
    ["of an extract without a file: a bar", listed("2026-11-21", {}), "fail excluded debarred bar"],
  ])("%s", async (_name, files, expected) => {
    expect(await extract(files)).toBe(expected);
  });

  test("that a stored answer has without rows", async () => {
    const stored = { exclusions: exclusionsPart(new Date("2026-11-21T08:00:00Z"), { flagged: true }) };
    const clear = (files: object) => listed("2026-11-01", { record: { ...record, excluded: false }, ...files });
    expect(await extract(clear(file("2026-11-21", "product")), stored)).toBe("pass active product");
    expect(await extract(clear(file("2026-11-21")), stored)).toBe("fail excluded debarred bar");
  });
});

describe("what an earlier day's flag means is decided by the file of that day or the day before", () => {
  type Rows = Pick<Files, "exclusions" | "endedExclusions">;
  const row = (effect: string, terminationDate: string) => ({ activeDate: "2026-11-02", terminationDate, effect });
  const of = (exclusionsCutDate: string, rows: Rows, { registryCutDate = "2026-11-01", excluded = false } = {}) => {
    const record = { uei: UEI, extractCode: "A", expirationDate: "2027-03-01", excluded };
    return {
      ...{ record, registryCutDate, registryLoad: "registry:1", exclusionsCutDate },
      exclusionsLoad: "exclusions:1",
      ...rows,
    };
  };
  const flaggedAt = (time: string): Parts => ({
    exclusions: exclusionsPart(new Date(time), { flagged: true }),
  });
  const ended = (effect: string, day: string) => ({ endedExclusions: [row(effect, day)] });
  const YESTERDAY = "2026-11-20T15:00:00Z";
  test.each<[string, string, Rows, string, string]>([
    [
      "a restriction of products that ended with that day",
      "2026-11-20",
      ended("product", "2026-11-20"),
      YESTERDAY,
      "pass active",
    ],
    ["a bar that ended with that day", "2026-11-20", ended("bar", "2026-11-20"), YESTERDAY, "pass active"],
    [
      "a row that had ended before",
      "2026-11-20",
      ended("product", "2026-11-19"),
      YESTERDAY,
      "fail excluded debarred bar",
    ],
    [
      "a row that a later file lacks",
      "2026-11-20",
      { endedExclusions: [{ ...row("product", "indefinite"), endedOn: "2026-11-20" }] },
      YESTERDAY,
      "fail excluded debarred bar",
    ],
    [
      "a row of a file two days before",
      "2026-11-18",
      ended("product", "2026-11-20"),
      YESTERDAY,
      "fail excluded debarred bar",
    ],
    [
      "a restriction of products that is still in force",
      "2026-11-18",
      { exclusions: [row("product", "indefinite")] },
      "2026-11-19T15:00:00Z",
      "pass active product",
    ],
  ])("%s", async (_name, cutDate, rows, flaggedOn, expected) => {
    expect(await extract(of(cutDate, rows), flaggedAt(flaggedOn))).toBe(expected);
  });

  test("and the exclusions are as new as the flag, of the file's load", async () => {
    const { parts } = await askFiles(of("2026-11-20", ended("product", "2026-11-20")), flaggedAt(YESTERDAY));
    const source = { origin: "sam_gov_exclusions", load: "exclusions:1", date: new Date(YESTERDAY) };
    expect(parts!.exclusions).toEqual({ ...source, flagged: false, exclusions: [] });
  });

  describe("is decided again when another file is loaded:", () => {
    const decided = async () =>
      (await askFiles(of("2026-11-20", ended("bar", "2026-11-20")), flaggedAt(YESTERDAY))).parts!;
    const other = { exclusionsLoad: "exclusions:2" };
    test.each<[string, Files, string]>([
      [
        "a newer one",
        { ...of("2026-11-20", { exclusions: [row("facility", "indefinite")] }), ...other },
        "fail excluded debarred facility",
      ],
      ["a newer one without a row", { ...of("2026-11-20", {}), ...other }, "fail excluded debarred bar"],
      [
        "the one before, when it was withdrawn",
        { ...of("2026-11-19", {}), ...other, withdrawnLoads: ["exclusions:1"] },
        "fail excluded debarred bar",
      ],
    ])("%s", async (_name, files, expected) => {
      expect(await extract(files, await decided())).toBe(expected);
    });

    test("also where the files can't be read meanwhile", async () => {
      expect(withoutFiles(await decided())).toMatchObject({ exclusions: { flagged: true, date: new Date(YESTERDAY) } });
    });
  });

  test("also an extract's", async () => {
    const flagging = { registryCutDate: "2026-11-20", excluded: true };
    expect(await extract(of("2026-11-19", ended("product", "2026-11-20"), flagging))).toBe("pass active");
    expect(await extract(of("2026-11-19", ended("product", "2026-11-19"), flagging))).toBe(
      "fail excluded debarred bar",
    );
  });
});

describe("a flag stands again where the exclusions file that explained it is withdrawn", () => {
  type Row = { activeDate?: string; terminationDate: string; effect: string };
  const row = (effect: string): Row => ({ terminationDate: "indefinite", effect });
  const file = (load: string, exclusionsCutDate: string, ...exclusions: Row[]): Files => ({
    ...{ exclusionsCutDate, exclusionsLoad: load, exclusions },
    ...{ withdrawnLoads: load === "exclusions:1" ? [] : ["exclusions:1"] },
  });
  const EARLIER = file("exclusions:0", "2026-11-20");
  const withdrawn = async ({ parts }: Answer) => {
    expect(parts!.exclusions).toMatchObject({ load: "exclusions:1", flagged: false });
    expect(await extract(EARLIER, parts)).toBe("fail excluded debarred bar");
    const { parts: later } = await askFiles(EARLIER, parts);
    expect(later!.exclusions).toEqual({ ...apiSource(NOW), flagged: true, exclusions: [] });
    return later;
  };

  test.each(["product", "facility", "bar"])("before the Exclusions API was asked: %s", async (effect) => {
    flagged();
    await withdrawn(await ask(file("exclusions:1", "2026-11-21", row(effect))));
    expect(sam.calls("exclusions")).toHaveLength(0);
  });

  test("while that API could not be asked", async () => {
    flagged();
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    const { parts } = await ask(file("exclusions:0", "2026-11-20"));
    expect(parts!.exclusions!.flagged).toBe(true);
    await withdrawn(await askFiles(file("exclusions:1", "2026-11-21", row("product")), parts));
  });

  test("also where it was newer than the rows of that API", async () => {
    flagged(bar);
    const { parts } = await ask(EARLIER);
    await withdrawn(await askFiles(file("exclusions:1", "2026-11-22"), parts));
  });

  test("until another file explains it, or a newer one has no row", async () => {
    flagged();
    const later = await withdrawn(await ask(file("exclusions:1", "2026-11-21", row("product"))));
    expect(await extract(file("exclusions:2", "2026-11-21", row("product")), later)).toBe("pass active product");
    const { parts } = await askFiles(file("exclusions:2", "2026-11-21", row("facility")), later);
    expect(parts!.exclusions!.date).toEqual(NOW); // so that it replaces the flag in a baseline
    expect(await extract(file("exclusions:2", "2026-11-21"), later)).toBe("fail excluded debarred bar");
    expect(await extract(file("exclusions:2", "2026-11-22"), later)).toBe("pass active");
  });

  test("not where the flag was an extract's that is withdrawn", async () => {
    const extractOf = (registryCutDate: string, registryLoad: string, excluded: boolean) => ({
      ...{ registryCutDate, registryLoad, withdrawnLoads: excluded ? [] : ["registry:1"] },
      record: { uei: UEI, extractCode: "A", expirationDate: "2027-03-01", excluded },
    });
    const flagging = extractOf("2026-11-21", "registry:1", true);
    const before = extractOf("2026-10-04", "registry:0", false);
    const explaining = file("exclusions:1", "2026-11-20", row("product"));
    const explained = await askFiles({ ...explaining, ...flagging } as Files);
    expect(await extract({ ...explaining, ...before } as Files, explained.parts)).toBe("pass active product");
    const unexplained = await askFiles({ ...EARLIER, ...flagging } as Files);
    expect(stateIn(unexplained)).toBe("fail excluded debarred bar");
    expect(await extract({ ...EARLIER, ...before } as Files, unexplained.parts)).toBe("pass active");
  });
});

describe("a vendor with many rows", () => {
  test.each<[string, Partial<PlayedExclusion>[], number, string]>([
    ["costs one page where the first has a bar", times(12, bar), 1, "fail excluded debarred bar"],
    ["is read on while products are restricted", times(12, product), 2, "pass active product"],
    ["is read on for a bar beside facilities", [...times(10, facility), bar], 2, "fail excluded debarred bar"],
    [
      "is read on where a page has not begun",
      [...times(10, { activateDate: "11-22-2026" }), bar],
      2,
      "fail excluded debarred bar",
    ],
    [
      "costs three pages at most, and what was not read counts as a bar",
      times(31, product),
      3,
      "fail excluded debarred bar",
    ],
    [
      "may have equal rows on two pages: what these may hide counts as a bar",
      Array.from({ length: 12 }, () => product),
      2,
      "fail excluded debarred bar",
    ],
  ])("%s", async (_name, exclusions, calls, expected) => {
    flagged(...exclusions);
    expect(stateIn(await ask())).toBe(expected);
    expect(sam.calls("exclusions")).toHaveLength(calls);
  });

  test("of which none is in force, and without a flag, has no answer after three pages", async () => {
    sam.register({ uei: UEI, exclusionFlag: NOT_FLAGGED });
    for (const each of times(31, { recordStatus: "Inactive" })) sam.exclude({ uei: UEI, ...each });
    await expect(ask()).rejects.toMatchObject({ reason: "too_large", isFault: false });
    expect(sam.calls("exclusions")).toHaveLength(3);
  });

  const exclusion: Exclusion = {
    ...{ program: "Reciprocal", type: "Ineligible", agency: "DOJ", active_date: "2026-01-01" },
    termination_date: "indefinite",
  };
  test.each<[string, string, Exclusion, number]>([
    ["costs no page where it was barred within a day", "2026-11-20T18:00:00Z", { ...exclusion, effect: "bar" }, 0],
    ["costs a page a day later", "2026-11-20T17:00:00Z", { ...exclusion, effect: "bar" }, 1],
    ["costs a page where a bar may have been added", "2026-11-21T17:00:00Z", { ...exclusion, effect: "product" }, 1],
    [
      "costs a page where its bar has ended",
      "2026-11-21T04:00:00Z",
      { ...exclusion, termination_date: "2026-11-20" },
      1,
    ],
  ])("that is known and still flagged %s", async (_name, at, known, calls) => {
    flagged(bar);
    const stored = { exclusions: exclusionsPart(new Date(at), { exclusions: [known] }) };
    expect(stateIn(await ask(undefined, { stored }))).toBe("fail excluded debarred bar");
    expect(sam.calls("exclusions")).toHaveLength(calls);
  });
});
