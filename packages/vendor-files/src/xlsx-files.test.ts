import { describe, expect, test } from "@jest/globals";
import { zip } from "@vvs/testing";
import { readVendorFile, VendorFileError } from "./index.ts";
import { readList } from "./testing/lists.ts";
import { textRow, workbook } from "./testing/xlsx.ts";

const UEI = "UE9QJD4KK1L6";

describe("a cell of a sheet is read as it is shown, with all its digits:", () => {
  test.each([
    ["a number", "<v>123456780</v>", "123456780"],
    ["a number whose format shows its zeros", ' s="1"><v>12345678</v>', "012345678"],
    ["a number that its format shortens", ' s="3"><v>123456780</v>', "123456780"],
    ["a number with decimals", ' s="4"><v>123456780</v>', "123456780"],
    ["a text", ' s="2" t="str"><v>012345678</v>', "012345678"],
    ["the result of a formula", ' t="str"><f>TEXT(A1,"0")</f><v>123456780</v>', "123456780"],
    ["a shared text", ' t="s"><v>1</v>', "123456780"],
    ["a text in parts", ' t="inlineStr"><is><r><t>1234</t></r><r><rPr><b/></rPr><t>56780</t></r></is>', "123456780"],
  ])("%s", async (_name, cell, tin) => {
    const rows = `${textRow("Tax ID")}<row r="2"><c r="A2"${cell.startsWith("<") ? ">" : ""}${cell}</c></row>`;
    const strings = "<si><t>x</t></si><si><r><t>12345</t></r><r><t>6780</t></r><rPh><t>9</t></rPh></si>";
    expect(await readList(workbook(rows, { strings }))).toEqual([{ identifiers: { tin } }]);
  });

  test.each([
    [
      "a number that has lost zeros",
      "<c><v>12345678</v></c>",
      "must be 9 digits: a spreadsheet may have dropped leading zeros",
    ],
    [
      "a date",
      '<c s="5"><v>45000</v></c>',
      "was made a date by a spreadsheet: format the column as text, and enter it again",
    ],
    ["a formula without its result", "<c><f>A1&amp;B1</f><v/></c>", "must be 9 digits"],
    ["an error", '<c t="e"><v>#REF!</v></c>', "is an error of the spreadsheet"],
    [
      "the CAGE code 123E2, typed as a number,",
      '<c s="3"><v>12300</v></c>',
      "was cut by a spreadsheet: format the column as text, and enter the number again",
    ],
  ])("%s is reported", async (_name, cell, problem) => {
    const read = await readList(workbook(`${textRow("Tax ID")}<row r="7">${cell}</row>`));
    expect(read).toEqual([[`Row 7, "Tax ID" ${problem}`]]);
  });
});

test("the first visible sheet is read, with gaps between its rows and cells", async () => {
  const rows = `${textRow("UEI", "", "Legal Name")}<row r="3"/><row r="5"><c r="A5" t="str"><v>${UEI}</v></c>
    <c r="B5" s="1" t="str"><f>""</f><v></v></c><c r="C5" t="str"><v>Caf&#233; &amp; Co_x000D_</v></c><c r="E5" s="1"/></row>`;
  const { columns, rows: read } = await readVendorFile(workbook(rows));
  expect(columns.map(({ name, field }) => [name, field])).toEqual([
    ["UEI", "uei"],
    ["", undefined],
    ["Legal Name", "legal_name"],
  ]);
  expect(read).toMatchObject([{ number: 5, vendor: { identifiers: { uei: UEI }, legal_name: "Café & Co" } }]);
});

test("a cell may have lines with as many commas as the list has columns, and begin with a quotation mark", async () => {
  const notes = "&quot;Al&quot; called\nin May, in June, in July, in August";
  const file = workbook(textRow("UEI", "Legal Name", "City", "Note") + textRow(UEI, "Acme", "Boston", notes));
  expect(await readList(file)).toEqual([{ identifiers: { uei: UEI }, legal_name: "Acme" }]);
});

test("names of elements can have a prefix, and that of attributes can be another one, as some programs write them", async () => {
  const sheet = `<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="str"><x:v>UEI</x:v></x:c></x:row>
    <x:row><x:c t="str"><x:v>${UEI}</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
  const sheets = `<x:workbook xmlns:x="m" xmlns:y="n"><x:sheets><x:sheet name="A" y:id="rId2"/></x:sheets></x:workbook>`;
  const parts = { "xl/worksheets/sheet2.xml": sheet, "xl/workbook.xml": sheets };
  expect(await readList(workbook("", { parts }))).toEqual([{ identifiers: { uei: UEI } }]);
});

describe("a workbook is refused", () => {
  const many = (count: number, row: string) => row.repeat(count);
  test.each<[string, Buffer, string]>([
    ["if it is damaged", workbook(textRow("UEI")).subarray(0, 400), "is damaged"],
    ["if it is another archive", zip({ "word/document.xml": "<w/>" }), "not an .xlsx file"],
    ["if its XML is cut", workbook("", { parts: { "xl/worksheets/sheet2.xml": "<worksheet><row" } }), "is damaged"],
    [
      "if it is too large unpacked",
      workbook(textRow("UEI"), { strings: many(20_000, "<si><t>a</t></si>") }),
      "too large once it is unpacked",
    ],
    ["if it hides how large it is", workbook(many(20_000, textRow("a", "b")), { declaredSize: 10 }), "is damaged"],
    ["if it has too many columns", workbook('<row><c r="XFD1"><v>1</v></c></row>'), "more than 200 columns"],
    ["if it has too many rows", workbook(textRow("UEI") + many(300, textRow("a"))), "more than 100 rows"],
    [
      "if it refers to itself",
      workbook("", { parts: { "xl/worksheets/sheet2.xml": '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>' } }),
      "is damaged",
    ],
  ])("%s", async (_name, file, message) => {
    const reading = readVendorFile(file, { limits: { unpackedBytes: 200_000, rows: 100 } });
    await expect(reading).rejects.toThrow(VendorFileError);
    await expect(reading).rejects.toThrow(message);
  });
});
