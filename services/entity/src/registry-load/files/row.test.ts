import { describe, expect, test } from "@jest/globals";
import { extractRowText } from "../testing/registry-files.ts";
import { type ExtractRow, parseRow } from "./row.ts";

function rowOf(set: Record<number, string>): ExtractRow {
  const parsed = parseRow(extractRowText(set));
  if (!parsed.row) throw new Error(parsed.reason);
  return parsed.row;
}

describe("a row of the extract", () => {
  test("gives names, dates, structure and both addresses, which have different field orders", () => {
    const row = rowOf({
      13: "BLUE RIDGE",
      14: "WEST DIVISION",
      17: "STE 4",
      21: "1234",
      40: "PO BOX 9",
      42: "ASHEVILLE",
      43: "28802",
      44: "0009",
      45: "USA",
      46: "NC",
      122: "E&Y",
    });
    expect(row).toEqual({
      uei: "ABCDEF123456",
      eft_indicator: "",
      extractCode: "A",
      partial: false,
      lastUpdateDate: "2026-08-01",
      legal_name: "BLUE RIDGE TIMBER LLC",
      other_names: ["BLUE RIDGE", "WEST DIVISION"],
      addresses: [
        {
          type: "physical",
          line1: "12 OAK ST",
          line2: "STE 4",
          city: "ASHEVILLE",
          state: "NC",
          zip: "28801-1234",
          country: "USA",
        },
        { type: "mailing", line1: "PO BOX 9", city: "ASHEVILLE", state: "NC", zip: "28802-0009", country: "USA" },
      ],
      sam: {
        sam_registered: true,
        listed_as: "active",
        expiration_date: "2027-12-31",
        excluded: false,
        cage: "1ABC2",
        entity_type: "Corporate Entity (Not Tax Exempt)",
      },
    });
  });

  test.each<[string, Record<number, string>, object]>([
    ["a flag of one space is blank", { 116: " " }, { sam: { excluded: false } }],
    ["field 116 D is an exclusion", { 116: "D" }, { sam: { excluded: true } }],
    ["the DBA and the division count once", { 13: "RIDGE", 14: "RIDGE" }, { other_names: ["RIDGE"] }],
    ["the legal name is not also another name", { 13: "BLUE RIDGE TIMBER LLC" }, { other_names: [] }],
    ["pipes inside NUL quotes are text", { 12: "\0A|B LLC\0" }, { legal_name: "A|B LLC" }],
    ["fields are trimmed", { 12: "  HARBOR INC  ", 3: " " }, { legal_name: "HARBOR INC", eft_indicator: "" }],
    ["an unknown structure has no text", { 28: "Q9" }, { sam: { entity_type: undefined } }],
    ["a malformed CAGE is left out", { 4: "12" }, { sam: { cage: undefined } }],
    ["a foreign ZIP keeps its form", { 20: "SW1A 1AA", 21: "1234", 22: "GBR" }, {}],
    ["a daily deactivation is partial", { 6: "1", 12: "", 9: "" }, { partial: true, legal_name: "", addresses: [] }],
  ])("%s", (_, set, expected) => expect(rowOf(set)).toMatchObject(expected));

  test("a deactivation may contain only the first seven fields", () => {
    expect(parseRow("ABCDEF123456||7001|1ABC2||4|Z2|!end")).toMatchObject({
      row: { uei: "ABCDEF123456", eft_indicator: "7001", extractCode: "4", partial: true },
    });
  });

  test.each<[string, string, RegExp]>([
    ["one field too many", extractRowText({ 12: "A|B" }), /143 fields instead of 142/],
    ["too few fields", "ABCDEF123456||||||A|!end", /./],
    ["no end mark", extractRowText({ 142: "x" }), /does not end with "!end"/],
    ["an open quote", extractRowText({ 12: "\0A" }), /NUL quote is not closed/],
    ["a UEI of another length", extractRowText({ 1: "ABC" }), /field 1 is not a UEI/],
    ["an unknown code", extractRowText({ 6: "Q" }), /field 6 is not an extract code: "Q"/],
    ["a date that is not in the calendar", extractRowText({ 9: "20260230" }), /field 9 is not a date: "20260230"/],
    ["no name", extractRowText({ 12: " " }), /legal name, is blank/],
    ["an active row without an expiration", extractRowText({ 9: "" }), /expiration date, is blank/],
  ])("is refused: %s", (_, text, reason) => {
    expect(parseRow(text)).toEqual({ reason: expect.stringMatching(reason) });
  });
});
