import { expect, test } from "@jest/globals";
import { readVendorFile, storableCells, withoutTins } from "./index.ts";

test.each([
  ["912345678", "****5678"],
  [" 91-2345678 ", "****5678"],
  ["912 34 5678", "****5678"],
  ["912-345-678", "****5678"],
  ["912,345,678", "****5678"],
  ["912345678.00", "****5678"],
  ['="912345678"', "****5678"],
  ["'912345678", "****5678"],
  ["EIN: 91-2345678", "****5678"],
  ["was 91-2345678, now 912 34 5679", "was ****5678, now ****5679"],
  ["A &#57;1-2345678", "****"],
  ["****5678", "****5678"],
  ["91234567", "91234567"],
  ["1,234,567.89", "1,234,567.89"],
  ["(555) 123-4567", "(555) 123-4567"],
  ["12345-6789", "12345-6789"],
  ["UE9QJD4KK1L6", "UE9QJD4KK1L6"],
  ["A12345678B9C", "A12345678B9C"],
])("%j is stored as %j", (cell, stored) => {
  expect(withoutTins(cell)).toBe(stored);
});

test("the cells of a row keep what is in them, without TINs", async () => {
  const list = "UEI,DUNS,Tax ID,Zip,Note\nABCDEFGHJK12,912345678,91-234,12345-6789,see 91-2345678\n";
  const { columns, rows } = await readVendorFile(Buffer.from(list));
  expect(rows.map(storableCells(columns))).toEqual([
    ["ABCDEFGHJK12", "912345678", "****", "12345-6789", "see ****5678"],
  ]);
});

test("a vendor's number is stored as it is, unless it stands in another column too that is not the DUNS", async () => {
  const list = "Vendor #,Name,DUNS,Tax ID,Zip\n100012345,A,100012345,912345678,787012345\n912345678,B,,91-2345678,\n";
  const { columns, rows } = await readVendorFile(Buffer.from(list));
  expect(rows.map(storableCells(columns))).toEqual([
    ["100012345", "A", "100012345", "****5678", "787012345"],
    ["****5678", "B", "", "****5678", ""],
  ]);
});
