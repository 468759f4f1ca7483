import { describe, expect, test } from "@jest/globals";
import { extractRowText } from "../testing/registry-files.ts";
import { addRow, applyPartialRow, decidingRow, factsFromDailyRow } from "./combine.ts";
import { type ExtractRow, parseRow } from "./row.ts";

function rowOf(set: Record<number, string>): ExtractRow {
  const parsed = parseRow(extractRowText(set));
  if (!parsed.row) throw new Error(parsed.reason);
  return parsed.row;
}

describe("several rows of one entity", () => {
  test.each<[string, Record<number, string>[], object]>([
    [
      "the blank indicator wins",
      [{ 3: "7001", 4: "2AAA2" }, { 4: "1AAA1" }],
      { eft_indicator: "", sam: { cage: "1AAA1" } },
    ],
    ["even when expired", [{ 3: "7001" }, { 6: "E" }], { eft_indicator: "", extractCode: "E" }],
    ["without a blank one, an active wins", [{ 3: "7001", 6: "E" }, { 3: "7002" }], { eft_indicator: "7002" }],
    ["then the newest", [{ 3: "7001" }, { 3: "7002", 10: "20260901" }], { eft_indicator: "7002" }],
    ["for one indicator, the last row counts", [{ 12: "OLD INC" }, { 12: "NEW INC" }], { legal_name: "NEW INC" }],
    [
      "a later deactivation keeps the rest",
      [{ 12: "OLD INC" }, { 6: "1", 12: "", 9: "" }],
      { legal_name: "OLD INC", sam: { listed_as: "inactive", expiration_date: "2027-12-31" }, partial: false },
    ],
    [
      "an entity that was deleted and added again exists",
      [{ 6: "1", 12: "", 9: "" }, { 6: "2" }],
      { extractCode: "2", partial: false },
    ],
    ["a single deactivation stays partial", [{ 6: "1", 12: "", 9: "" }], { partial: true }],
  ])("%s", (_, rows, expected) => {
    const combined: ExtractRow[] = [];
    for (const row of rows.map(rowOf)) addRow(combined, row);
    expect(decidingRow(combined)).toMatchObject(expected);
  });
});

test.each([
  ["1", "inactive"],
  ["4", "expired"],
] as const)("a partial row with code %s only changes the listing to %s", (code, listed_as) => {
  const known = rowOf({});
  const row = rowOf({ 4: "", 6: code, 9: "", 12: "" });
  expect(applyPartialRow(known, row)).toEqual({ ...known, sam: { ...known.sam, listed_as } });
});

describe("a row of a daily file", () => {
  const known = (set: Record<number, string> = {}) => rowOf(set);
  const deactivated = { 6: "1", 12: "", 9: "" };
  test.each<[string, Record<number, string>, Record<number, string>, object | "as before"]>([
    ["of the entity replaces the known facts", {}, { 12: "NEW INC" }, { legal_name: "NEW INC" }],
    ["of a further payment address does not count for the entity", {}, { 3: "7001", 12: "NEW INC" }, "as before"],
    [
      "that deactivates a further payment address leaves the entity active",
      {},
      { 3: "7001", ...deactivated },
      "as before",
    ],
    ["of the entity replaces a payment address's", { 3: "7001" }, { 12: "NEW INC" }, { legal_name: "NEW INC" }],
    [
      "of another payment address does not replace an active one",
      { 3: "7001" },
      { 3: "7002", 12: "NEW INC" },
      "as before",
    ],
    [
      "of another payment address replaces an inactive one",
      { 3: "7001", 6: "E" },
      { 3: "7002" },
      { eft_indicator: "7002" },
    ],
  ])("%s", (_, before, row, expected) => {
    const facts = factsFromDailyRow(known(before), rowOf({ 6: "3", ...row }));
    if (expected === "as before") expect(facts).toEqual(known(before));
    else expect(facts).toMatchObject(expected);
  });

  test("gives no facts of an unknown entity if it is partial", () => {
    expect(factsFromDailyRow(undefined, rowOf(deactivated))).toBeUndefined();
    expect(factsFromDailyRow(undefined, rowOf({ 6: "2" }))).toMatchObject({ legal_name: "BLUE RIDGE TIMBER LLC" });
  });
});
