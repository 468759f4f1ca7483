import { describe, expect, test } from "@jest/globals";
import { readList, utf16, windows1252 } from "./testing/lists.ts";

const UEI = "UE9QJD4KK1L6";
const acme = { identifiers: { uei: UEI }, legal_name: "Acme Tools LLC" };
const TIN = "123456780";
const byTin = { identifiers: { tin: TIN } };
const header = "UEI,Legal Name\n";
const row = `${UEI},Acme Tools LLC`;

describe("how a file is written makes no difference:", () => {
  test.each<[string, string | Uint8Array]>([
    ["plain", `${header}${row}\n`],
    ["no line end after the last row", header + row],
    ["a byte order mark", `\ufeff${header}${row}`],
    ["UTF-16, little endian, as Excel's Unicode Text", utf16(`UEI\tLegal Name\r\n${UEI}\tAcme Tools LLC\r\n`, "le")],
    ["UTF-16, big endian", utf16(header + row, "be")],
    ["UTF-16 without a byte order mark", utf16(header + row, "le", false)],
    ["UTF-16, big endian, without a byte order mark", utf16(header + row, "be", false)],
    ["semicolons", `UEI;Legal Name\n${UEI};Acme Tools LLC`],
    ["tabs", `UEI\tLegal Name\n${UEI}\tAcme Tools LLC`],
    ["bars", `UEI|Legal Name\n${UEI}|Acme Tools LLC`],
    ["a line that names the delimiter", `sep=;\r\nUEI;Legal Name\r\n${UEI};Acme Tools LLC\r\n`],
    ["that line in quotes, with delimiters after it", `"sep=;";\nUEI;Legal Name\n${UEI};Acme Tools LLC`],
    ["a delimiter that only such a line can tell", `sep=^\nUEI^Legal Name\n${UEI}^Acme Tools LLC`],
    ["CRLF", `UEI,Legal Name\r\n${row}\r\n`],
    ["CR, as old programs for the Mac", `UEI,Legal Name\r${row}\r`],
    ["different line ends", `Note,UEI,Legal Name\r\n,${row}\n`],
    ["every cell in quotes", `"UEI","Legal Name"\r\n"${UEI}","Acme Tools LLC"\r\n`],
    ["spaces before the quotes", `"UEI", "Legal Name"\n"${UEI}", "Acme Tools LLC"\n`],
    ["spaces around the values", ` UEI , Legal Name \n ${UEI} , Acme Tools LLC `],
    ["non-breaking spaces", `UEI,Legal\u00a0Name\n${UEI}\u00a0,Acme\u00a0Tools LLC`],
    ["a line break in a quoted name of a column", `UEI,"Legal\nName"\n${row}`],
    ["a line break in a quoted cell", `${header}${UEI},"Acme\r\nTools LLC"`],
    ["trailing columns without a name", `UEI,Legal Name,,\n${row},,\n`],
    ["trailing empty cells", `${header}${row},,,\n`],
    ["rows of delimiters only", `${header}${row}\n,\n,\n`],
    ["blank lines", `\n\n${header}\n${row}\n\n  \n`],
    ["rows before the names of the columns", `Vendors of ACME\nExported 2026-11-26\n\n${header}${row}`],
    ["columns in another order, with others between", `Phone,Legal Name,Terms,UEI\n555-1234,Acme Tools LLC,N30,${UEI}`],
    ["rows that end early", `${header.trim()},Note\n${row}\n`],
    ["quotes inside an unquoted cell", `UEI,Legal Name,Note\n${row},12" pipe\n`],
    ["a quoted word at the beginning of a cell", `UEI,Legal Name,Note\n${row},"Big" Bob\n`],
    [
      "a comma in a file with semicolons",
      `Note;UEI;Legal Name\na, b, c;${UEI};Acme Tools LLC\nx,y;;\n`.replace("x,y", ""),
    ],
    ["columns that an earlier run has added", addedColumns()],
  ])("%s", async (_name, file) => {
    expect(await readList(file)).toEqual([acme]);
  });

  test.each<[string, string | Uint8Array, string]>([
    ["UTF-8", `${header}${UEI},Café “Déjà vu” – Łódź €`, "Café “Déjà vu” – Łódź €"],
    ["Windows-1252", windows1252(`${header}${UEI},Café d’été – Škoda €`), "Café d’été – Škoda €"],
    ["UTF-16", utf16(`${header}${UEI},Łódź 東京`, "le"), "Łódź 東京"],
    ["doubled quotes", `${header}${UEI},"Acme ""Tools"" LLC"`, 'Acme "Tools" LLC'],
    ["a quoted delimiter", `${header}${UEI},"Acme, Tools; LLC"`, "Acme, Tools; LLC"],
    ["a formula that is a text", `${header}${UEI},"=""Acme Tools"""`, "Acme Tools"],
    ["a formula that was made harmless", `${header}${UEI},'@Home Inc`, "@Home Inc"],
    ["a name that begins with an apostrophe", `${header}${UEI},'47 Brand LLC`, "'47 Brand LLC"],
  ])("names in %s", async (_name, file, name) => {
    expect(await readList(file)).toEqual([{ identifiers: { uei: UEI }, legal_name: name }]);
  });
});

function addedColumns(): string {
  const added = "outcome,decision,registry_name,asked_tin,asked_name,expires_on,reasons,evidence";
  return `UEI,Legal Name,${added}\n${row},pass,pay,ACME TOOLS LLC,,Acme,2027-01-31,,https://example.com/e\n`;
}

describe("what spreadsheets do to an identifier is undone, or reported:", () => {
  test.each<[string, string, object | undefined]>([
    ["tin", "12-3456780", byTin],
    ["tin", "123-45-6780", byTin],
    ["tin", "12\u20133456780", byTin],
    ["tin", "'123456780", byTin],
    ["tin", "’123456780", byTin],
    ["tin", '"=""123456780"""', byTin],
    ["tin", '="123456780"', byTin],
    ["tin", "123456780.0", byTin],
    ["tin", '"123456780,00"', byTin],
    ["tin", '"123,456,780"', byTin],
    ["tin", "EIN: 12-3456780", byTin],
    ["tin", "'012345678", { identifiers: { tin: "012345678" } }],
    ["uei", "ue9qjd4kk1l6", { identifiers: { uei: UEI } }],
    ["uei", "UE9Q JD4K K1L6", { identifiers: { uei: UEI } }],
    ["duns", "15-048-3782", { identifiers: { duns: "150483782" } }],
    ["duns", "150483782.0", { identifiers: { duns: "150483782" } }],
    ["cage", "1abc2", { identifiers: { cage: "1ABC2" } }],
    ["cage", "1E123", { identifiers: { cage: "1E123" } }],
    ["cage", "CAGE 1ABC2", { identifiers: { cage: "1ABC2" } }],
    ...["N/A", "none", "#N/A", "-", "unknown", "00-0000000", "Not applicable"].map(
      (none) => ["tin", none, undefined] as [string, string, undefined],
    ),
  ])("%s %s", async (type, cell, vendor) => {
    const [read] = await readList(`${type},Legal Name\n${cell},Acme\n`);
    expect(read).toEqual({ ...vendor, legal_name: "Acme" });
  });

  const zeros = "a spreadsheet may have dropped leading zeros";
  const cut = "was cut by a spreadsheet: format the column as text, and enter the number again";
  const date = "was made a date by a spreadsheet: format the column as text, and enter it again";
  test.each([
    ["tin", "12345678", `must be 9 digits: ${zeros}`],
    ["tin", "1234567.0", `must be 9 digits: ${zeros}`],
    ["tin", '"12,345,678"', `must be 9 digits: ${zeros}`],
    ["duns", "5048378", `must be 9 digits: ${zeros}`],
    ["cage", "5074", `must be 5 letters and digits: ${zeros}`],
    ["tin", "1.23457E+11", cut],
    ["tin", '"1,23E+08"', cut],
    ["cage", "1.00E+123", cut],
    ["cage", "5-Mar", date],
    ["cage", "1-Jan-02", date],
    ["tin", "#REF!", "is an error of the spreadsheet"],
    ["tin", "#########", "was left out by a spreadsheet: widen the column, and save the list again"],
    ["tin", "****6780", "is masked: enter all 9 digits"],
    ["tin", "XXX-XX-6780", "is masked: enter all 9 digits"],
    ["tin", "*********", "is masked: enter all 9 digits"],
    ["tin", "123456789", "must be a real TIN: this one is a placeholder"],
    ["uei", "UE9QJD4KK1L", "must be 12 letters and digits"],
    ["entity_id", "1234", "must be the ID of an entity, such as ent_01h2xcejqtf2nbrexx3vqjhp41"],
  ])("%s %s %s", async (type, cell, problem) => {
    expect(await readList(`Name,${type}\nAcme,${cell}\n`)).toEqual([[`Row 2, "${type}" ${problem}`]]);
  });
});

describe("nothing is lost without a word:", () => {
  test.each<[string, string, string]>([
    [
      "a cell beyond the named columns",
      `${header}${UEI},Acme, Inc\n`,
      "Row 2 has 3 cells, but the names end at 2: look for a value in the wrong column",
    ],
    [
      "a quote that the next row closes",
      `UEI,Name,City,State\n${UEI},"Acme,Boston,MA\n${UEI},"Beta, LLC",Boston,MA\n`,
      'Row 2 seems to contain other rows: look for a missing quotation mark (")',
    ],
    [
      "another identifier in a second column of the same name",
      `UEI,uei,Legal Name\n${UEI},ABCDEFGHJK12,Acme\n`,
      'Row 2, "UEI" differs from the other column of this name',
    ],
    [
      "an identifier that only the second column of the same name has",
      `UEI,UEI,Legal Name\n,${UEI},Acme\n`,
      'Row 2, "UEI" differs from the other column of this name',
    ],
    ["a row with other cells only", `${header},,x\n`, "names end at 2"],
    ["a vendor without a name and an identifier", `Note,UEI\nx,N/A\n`, "Row 2 has no identifier and no name"],
    [
      "a TIN in a name",
      `${header}${UEI},Acme 12-3456780\n`,
      'Row 2, "Legal Name" must not contain a number that looks like a TIN',
    ],
  ])("%s", async (_name, file, problem) => {
    const read = await readList(file);
    expect(JSON.stringify(read)).toContain(JSON.stringify(problem).slice(1, -1));
    expect(read.flat().every((each) => typeof each === "string")).toBe(true);
  });
});
