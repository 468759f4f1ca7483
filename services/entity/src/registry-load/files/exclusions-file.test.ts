import { describe, expect, test } from "@jest/globals";
import { zip } from "@vvs/testing";
import { writeText } from "../testing/registry-files.ts";
import { type ExclusionItem, exclusionsCutDate, readExclusions, validateExclusions } from "./exclusions-file.ts";

const titles = [
  ...["Classification", "Name", "Prefix", "First", "Middle", "Last", "Suffix", "Address 1", "City", "Country"],
  ...["Unique Entity ID", "Exclusion Program", "Excluding Agency", "CT Code", "Exclusion Type", "Additional Comments"],
  ...["Active Date", "Termination Date", "Record Status", "SAM Number", "CAGE", "Creation_Date"],
];
const header = titles.map((title) => `"${title}"`).join(",");
const defaults: Record<string, string> = {
  Classification: "Firm",
  Name: "NORTHGATE PAVING, INC.",
  "Unique Entity ID": "ABCDEF123456",
  "Exclusion Program": "Reciprocal",
  "Excluding Agency": "GSA",
  "Exclusion Type": "Ineligible (Proceedings Completed)",
  "Active Date": "2020-01-29",
  "Termination Date": "Indefinite",
  "SAM Number": "S4MR00001",
  Creation_Date: "2020-01-30",
};
const line = (set: Record<string, string> = {}) =>
  titles.map((title) => `"${set[title] ?? defaults[title] ?? ""}"`).join(",");

async function read(text: string | Uint8Array, name = "exclusions.csv"): Promise<ExclusionItem[]> {
  const items: ExclusionItem[] = [];
  for await (const item of readExclusions(await writeText(name, text))) items.push(item);
  return items;
}
const validate = async (text: string | Uint8Array, name = "exclusions.csv") =>
  validateExclusions(await writeText(name, text));

describe("an exclusions file", () => {
  test("is read by its header in both generations and with both date formats", async () => {
    const older = header.replace("Unique Entity ID", "Unique Entity Identifier (SAM)");
    const row = line({ "Active Date": "01/29/2020", "Termination Date": "01/28/2023", CAGE: "1abc2" });
    const [item] = await read(`\uFEFF${older}\r\n${row}\r\n`);
    expect(item).toEqual({
      lineNumber: 2,
      row: {
        key: expect.stringMatching(/^[\w-]{22}$/),
        sam_number: "S4MR00001",
        uei: "ABCDEF123456",
        cage: "1ABC2",
        exclusion_type: "Ineligible (Proceedings Completed)",
        program: "Reciprocal",
        agency: "GSA",
        effect: "bar",
        active_date: "2020-01-29",
        termination_date: "2023-01-28",
      },
    });
  });

  test("is read without the names of people with a UEI, and comments without TINs", async () => {
    const person = { Classification: "Individual", Name: "JANE DOE", "Additional Comments": "Sister of Jim Doe" };
    const items = await read(`${header}\n${line(person)}\n${line({ "Additional Comments": "EIN 12-3456789" })}\n`);
    expect(items[1]!.row!.comment).toBe("EIN ****6789");
    expect(items).toMatchObject([{ row: { sam_number: "S4MR00001" } }, {}]);
    expect(JSON.stringify(items)).not.toMatch(/DOE/i);
  });

  const unnamed = { "Unique Entity ID": "", Name: "" };
  const parts = { First: "PAT", Middle: "Q", Last: "EXAMPLE", Suffix: "JR" };
  test.each<[string, Record<string, string>, string | undefined]>([
    ["of a firm by its name", { ...unnamed, Name: "NORTHGATE PAVING" }, "NORTHGATE PAVING"],
    ["of a person by the parts of the name", { ...unnamed, ...parts }, "PAT Q EXAMPLE JR"],
    ["of a person with few parts", { ...unnamed, Last: "EXAMPLE" }, "EXAMPLE"],
    ["without a name not at all", unnamed, undefined],
  ])("is read without its comment where a row has no identifier, %s", async (_name, set, name) => {
    const comment = { "Additional Comments": "Sister of Jim Doe", Classification: "Individual", "CT Code": "H" };
    const [item] = await read(`${header}\n${line({ ...set, ...comment, "Excluding Agency": "EPA" })}\n`);
    const { named, ...rest } = item!;
    expect(named?.name).toBe(name);
    expect(rest).not.toHaveProperty("row");
    expect(JSON.stringify(named ?? {})).not.toMatch(/DOE/i);
    if (named) {
      expect(named).toMatchObject({ program: "Reciprocal", agency: "EPA", effect: "facility" });
      expect(named).toMatchObject({ active_date: "2020-01-29", termination_date: "indefinite" });
    }
  });

  test.each<[string, Record<string, string>]>([
    ["whose dates can't be read", { ...unnamed, "Active Date": "soon" }],
    ["whose identifiers can't be read", { "Unique Entity ID": "12", CAGE: "1" }],
  ])("is read by its name as in force where a row names nobody otherwise: one %s", async (_name, set) => {
    const products = "Section 889. The entity is not itself excluded.";
    const more = { Name: "NORTHGATE PAVING", "Additional Comments": products };
    const [item] = await read(`${header}\n${line({ ...set, ...more })}\n`);
    const { unreadable, named } = item!;
    expect([unreadable?.reason, named?.name, named?.effect]).toEqual([expect.anything(), "NORTHGATE PAVING", "bar"]);
    expect([named!.active_date, named!.termination_date]).toEqual([undefined, undefined]);
  });

  test("has no names of people where it lacks the columns of their parts", async () => {
    const without = (text: string) => {
      const fields = text.split(",");
      return [...fields.slice(0, 3), ...fields.slice(7)].join(",");
    };
    const [item] = await read(`${without(header)}\n${without(line({ ...unnamed, ...parts }))}\n`);
    expect(item).toEqual({ lineNumber: 2 });
  });

  test("may quote a comment wrongly: the surplus columns belong to the comment", async () => {
    const comment = '"Debarred under 40 USC 3141, and any firm, or ""Effect, above, which is wrong."""';
    const items = await read(`${header}\n${line({ "Additional Comments": comment })}\n${line()}\n`);
    expect(items).toMatchObject([
      { lineNumber: 2, row: { sam_number: "S4MR00001", termination_date: "indefinite" } },
      { lineNumber: 3 },
    ]);
  });

  test.each([
    ["at its end", line({ CAGE: "1ABC2" }).slice(0, -1)],
    ["in a comment", line({ CAGE: "1ABC2", "Additional Comments": "x" }).replace('"x"', '"x ""y')],
  ])("loses no row to a quote that is never closed: %s", async (_name, open) => {
    const items = await read([header, line(), open, line({ "SAM Number": "S4MR00002" }), line(), ""].join("\n"));
    expect(items.map(({ row, unreadable, lineNumber }) => [lineNumber, row?.cage, unreadable])).toEqual([
      [2, undefined, undefined],
      [3, "1ABC2", undefined],
      [4, undefined, undefined],
      [5, undefined, undefined],
    ]);
  });

  test.each([
    ["a row added by hand at its end", ["\r\n", "\r\n", "\n"]],
    ["alternating line ends", ["\n", "\r\n", "\n"]],
  ])("may have different line ends: %s", async (_name, [first, second, third]) => {
    const rows = [line(), line({ "SAM Number": "S4MR00002", Creation_Date: "2020-02-01" })];
    const items = await read(`${header}${first}${rows[0]}${second}${rows[1]}${third}`);
    expect(items).toMatchObject([
      { lineNumber: 2, row: { sam_number: "S4MR00001" } },
      { lineNumber: 3, row: { sam_number: "S4MR00002" } },
    ]);
  });

  test("may contain a line break inside a quoted comment", async () => {
    const items = await read(`${header}\n${line({ "Additional Comments": "one\ntwo" })}\n${line()}\n`);
    expect(items).toMatchObject([{ lineNumber: 2 }, { lineNumber: 4 }]);
  });

  test.each<[string, string, RegExp]>([
    ["too few columns", '"Firm","A"', /2 columns instead of 22/],
    ["a malformed UEI", line({ "Unique Entity ID": "12" }), /Unique Entity ID is malformed/],
    [
      "an invalid date and no UEI",
      line({ "Unique Entity ID": "", "Active Date": "soon" }),
      /Active Date is not a date/,
    ],
  ])("quarantines a row with %s", async (_, row, reason) => {
    const items = await read(`${header}\n${row}\n`);
    expect(items).toMatchObject([{ lineNumber: 2, unreadable: { reason: expect.stringMatching(reason) } }]);
    expect(items[0]!.row).toBeUndefined();
  });

  const past = { "Termination Date": "2021-01-01", "Active Date": "2020-01-01", "CT Code": "H" };
  test.each<[string, string, object]>([
    ["an end that is no date", line({ ...past, "Termination Date": "soon" }), { uei: "ABCDEF123456" }],
    ["a first day that is no date", line({ ...past, "Active Date": "31/31/2025" }), { uei: "ABCDEF123456" }],
    ["a malformed UEI", line({ ...past, "Unique Entity ID": "12", CAGE: "1ABC2" }), { cage: "1ABC2" }],
    ["an unknown classification", line({ ...past, Classification: "Planet" }), { uei: "ABCDEF123456" }],
    ["surplus columns that leave no valid row", `${line(past)},"x"`, { uei: "ABCDEF123456" }],
    ["too few columns", line(past).split(",").slice(0, 14).join(","), { uei: "ABCDEF123456" }],
  ])("takes a row that it can't read, but whose vendor it can, as in force: %s", async (_, text, named) => {
    const [item] = await read(`${header}\n${text}\n`);
    const { active_date, termination_date, ...row } = item!.row!;
    expect(row).toMatchObject({ ...named, effect: "bar" });
    expect([item!.unreadable, active_date, termination_date]).toEqual([expect.anything(), undefined, undefined]);
  });

  test.each<[string, Record<string, string>, { uei?: string; cage?: string }]>([
    ["a CAGE N/A", { CAGE: "N/A" }, { uei: "ABCDEF123456" }],
    ["a CAGE 0", { CAGE: "0" }, { uei: "ABCDEF123456" }],
    ["a CAGE 00000", { CAGE: "00000" }, { uei: "ABCDEF123456" }],
    ["a UEI N0TAPPLICABL", { "Unique Entity ID": "N0TAPPLICABL", CAGE: "1ABC2" }, { cage: "1ABC2" }],
    ["a UEI NONE", { "Unique Entity ID": "NONE", CAGE: "1ABC2" }, { cage: "1ABC2" }],
  ])("has text that means no identifier: %s", async (_, set, { uei, cage }) => {
    const [item] = await read(`${header}\n${line(set)}\n`);
    expect(item!.unreadable).toBeUndefined();
    expect([item!.row!.uei, item!.row!.cage]).toEqual([uei, cage]);
  });

  test.each([
    ["", {}],
    ["d76d4330-f144-6bea-b0c1-1fdecb91ce37", {}],
    ["N/A", { "Unique Entity ID": "", CAGE: "N/A" }],
  ])("may have any SAM Number: %p", async (number, set) => {
    const [item] = await read(`${header}\n${line({ "SAM Number": number, ...set })}\n`);
    expect([item!.unreadable, item!.row !== undefined]).toEqual([undefined, number !== "N/A"]);
  });

  test.each([
    ["product", { "Additional Comments": "Section 889. The entity is not itself excluded." }],
    ["facility", { "Excluding Agency": "EPA", "CT Code": "H" }],
    ["facility", { "Excluding Agency": "EPA", "Additional Comments": "This Facility Only." }],
    ["bar", { "Additional Comments": "Section 889." }],
  ])("says what a row does: %s", async (effect, set) => {
    const [item] = await read(`${header}\n${line(set)}\n`);
    expect(item!.row!.effect).toBe(effect);
  });

  test("repeats a SAM number for each UEI, agency or cause code: the row's key includes these, but not the end date", async () => {
    const rows: Record<string, string>[] = [
      {},
      { "Unique Entity ID": "" },
      { "CT Code": "03-FTO-01" },
      { "Excluding Agency": "EPA" },
      { "Termination Date": "2030-01-01" },
    ];
    const items = await read(`${header}\n${rows.map((set) => line(set)).join("\n")}\n`);
    const keys = items.map((item) => item.row?.key ?? "");
    expect(new Set(keys.slice(0, 4)).size).toBe(4);
    expect(keys[4]).toBe(keys[0]);
  });
});

describe("validating an exclusions file", () => {
  test("takes its date from its name, also inside a ZIP, else by the latest creation date", async () => {
    const text = `${header}\n${line()}\n${line({ Creation_Date: "2020-02-12" })}\n`;
    expect(await validate(text, "SAM_Exclusions_Public_Extract_V2_26257.CSV")).toMatchObject({
      cutDate: "2026-09-14",
      rows: 2,
    });
    expect(await validate(zip({ "Extract_V2_26257.CSV": text }), "new.zip")).toMatchObject({ cutDate: "2026-09-14" });
    expect(await validate(text)).toMatchObject({ cutDate: "2020-02-12", fileName: "exclusions.csv" });
  });

  test.each<[string, string, RegExp]>([
    ["other columns", "a,b\n1,2\n", /is not an exclusions file: it lacks Classification, Name/],
    ["no row", `${header}\n`, /has no rows/],
    ["no good row", `${header}\n${line({ "Active Date": "soon" })}\n`, /line 2: the Active Date is not a date/],
    ["no date", `${header}\n${line({ Creation_Date: "" })}\n`, /neither its name/],
    ["nothing", "", /is empty/],
  ])("refuses a file with %s", (_, text, message) => expect(validate(text)).rejects.toThrow(message));

  test.each([
    ["X_26366.CSV", undefined],
    ["X_24366.ZIP", "2024-12-31"],
    ["X_26000.CSV", undefined],
  ])("the day of %s is %s", (name, date) => expect(exclusionsCutDate(name, name, undefined)).toBe(date));
});
