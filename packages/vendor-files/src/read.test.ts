import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Field, problemText, readVendorFile, VendorFileError } from "./index.ts";
import { textRow, workbook } from "./testing/xlsx.ts";

const UEI = "UE9QJD4KK1L6";
const read = (text: string, options = {}) => readVendorFile(Buffer.from(text), options);

describe("a column is recognized by its name:", () => {
  test.each<[Field, string[]]>([
    [
      "uei",
      [
        "UEI",
        "uei",
        "Unique Entity ID",
        "Unique Entity Identifier (SAM)",
        "Vendor UEI",
        "UEI Number",
        "UEI #",
        "SAM UEI",
        "SAM.gov UEI",
        "Entity UEI",
      ],
    ],
    [
      "tin",
      [
        "TIN",
        "EIN",
        "Tax ID",
        "TaxID",
        "Tax ID #",
        "Tax Id No.",
        "Tax ID (EIN/SSN)",
        "FEIN",
        "Federal Tax ID",
        "SSN",
        "Taxpayer Identification Number",
        "Employer Identification Number (EIN)",
        "Vendor Tax ID",
        "EIN/SSN",
        "tax_id_number",
      ],
    ],
    ["duns", ["DUNS", "D-U-N-S", "DUNS Number", "D-U-N-S® Number", "Dun & Bradstreet Number"]],
    ["cage", ["CAGE", "CAGE Code", "cage_code", "CAGE/NCAGE", "Supplier CAGE Code"]],
    [
      "legal_name",
      [
        "Legal Name",
        "Legal Business Name",
        "Vendor Name",
        "Supplier",
        "Company Name",
        "Name",
        "Payee Name",
        "NAME1",
        "Name of Vendor",
        "Vendor's Name",
      ],
    ],
    [
      "external_id",
      ["Vendor Number", "Vendor #", "Vendor No.", "VendorID", "Supplier ID", "vendor_code", "external_id", "LIFNR"],
    ],
    ["external_id", ["Contractor No.", "Subcontractor Number", "Organization Code", "Firm #"]],
    ["entity_id", ["entity_id", "Entity ID"]],
    ["address_line1", ["Address", "Address 1", "Street Address", "Mailing Address"]],
    ["address_line2", ["Address 2", "Address Line 2"]],
    ["city", ["City", "City/Town", "Vendor City"]],
    ["state", ["State", "State/Province", "ST"]],
    ["zip", ["ZIP", "Zip Code", "Postal Code", "ZIP/Postal Code"]],
    ["country", ["Country", "Country Code"]],
  ])("%s", async (field, names) => {
    for (const name of names) {
      const { columns } = await read(`"x","${name}"\n1,2\n`);
      expect([name, columns[1]!.field]).toEqual([name, field]);
    }
  });

  test.each([
    "Email address",
    "Contact Name",
    "State Tax ID",
    "Account Number",
    "Company Code",
    "Tax",
    "DBA",
    "DUNS+4",
    "Phone No.",
    "No.",
  ])("%s is only copied", async (name) => {
    const { columns } = await read(`UEI,"${name}"\n1,2\n`);
    expect(columns[1]!.field).toBeUndefined();
  });
});

test("the parts of an address become one line, and a number keeps its zeros", async () => {
  const { rows } = await read(
    "Vendor #,Supplier,Street,Suite,City,State,Zip,Country\n000,Acme,12 Main St,N/A,Boston,MA,'02110,USA\n'0012,Beta,,,Boston,,,\n",
  );
  expect(rows.map(({ vendor }) => vendor)).toEqual([
    { external_id: "000", legal_name: "Acme", address: "12 Main St, Boston, MA 02110, USA" },
    { external_id: "0012", legal_name: "Beta" },
  ]);
});

test("the number of a contractor is no name, and may have nine digits; so may a ZIP code", async () => {
  const { rows, columns } = await read(
    `Contractor No.,Contractor,UEI,Address,Zip\n100012345,Acme,${UEI},12 Main St,787012345\n`,
  );
  expect(columns.map(({ field }) => field)).toEqual(["external_id", "legal_name", "uei", "address_line1", "zip"]);
  expect(rows).toMatchObject([
    {
      problems: [],
      vendor: { external_id: "100012345", legal_name: "Acme", address: "12 Main St, 78701-2345" },
    },
  ]);
});

test("a row with an entity's ID needs no identifier, and a masked TIN is left out with a notice where another names the vendor", async () => {
  const id = "ent_01h2xcejqtf2nbrexx3vqjhp41";
  const { rows, notices } = await read(`entity_id,UEI,Tax ID\n${id},${UEI},12345678\n,${UEI},****6780\n,,****6780\n`);
  expect(rows.map(({ vendor }) => vendor)).toEqual([{ entity_id: id }, { identifiers: { uei: UEI } }, undefined]);
  expect(notices.map(problemText)).toEqual([
    '"Tax ID" is masked in 1 row, whose vendor is found by another identifier',
  ]);
});

test("of two columns that mean the same the better name is taken, and the other one is reported", async () => {
  const { columns, notices } = await read("Name,EIN,Legal Name\nA,,B\n");
  expect(columns.map(({ field }) => field)).toEqual([undefined, "tin", "legal_name"]);
  expect(notices.map(problemText)).toEqual(['Row 1, "Name" is not used: "Legal Name" is taken for the Legal name']);
});

describe("a mapping", () => {
  const list = `Key,Who,UEI\n${UEI},Acme,old\n`;

  test("overrides what the names mean", async () => {
    const { rows, columns, problems } = await read(list, { mapping: { 0: "uei", 1: "legal_name" } });
    expect(columns.map(({ field }) => field)).toEqual(["uei", "legal_name", undefined]);
    expect([rows[0]!.vendor, problems]).toEqual([{ identifiers: { uei: UEI }, legal_name: "Acme" }, []]);
  });

  test("can leave a column out", async () => {
    const { problems } = await read(list, { mapping: { 2: null } });
    expect(problems.map(problemText)).toEqual([
      "Row 1 names no column by which a vendor can be found. The list needs one of these: Entity ID (ent_…), UEI, TIN, DUNS, CAGE code, Legal name",
    ]);
  });

  test.each([
    [{ 0: "uei", 1: "uei" }, "Two columns are chosen as UEI"],
    [{ 9: "uei" }, "those of another file"],
  ])("%j is refused", async (mapping, message) => {
    await expect(read(list, { mapping })).rejects.toThrow(message);
  });
});

test("a row of data is not taken for the names of the columns", async () => {
  const mapping = { 0: "legal_name", 1: "state" } as const;
  const { columns, rows } = await read("Firma,Staat\nAcme,ID\nBeta,ST\n", { mapping });
  expect([columns.map(({ name }) => name), rows.length]).toEqual([["Firma", "Staat"], 2]);
});

test("rows have the numbers that a spreadsheet shows, and problems name them", async () => {
  const { rows } = await read(`sep=,\n\nUEI,Note\n${UEI},"a\nb"\n\n,x\n`);
  expect(rows.map(({ number, problems }) => [number, ...problems.map(problemText)])).toEqual([
    [3],
    [5, "Row 5 has no identifier and no name"],
  ]);
});

describe("a file is refused", () => {
  test.each<[string, string | Uint8Array, string]>([
    ["if it is empty", "", "The file is empty"],
    ["if it is blank", "\n\n , \n", "The file is empty"],
    ["if a quote is never closed", `UEI\n"${UEI}\n`, "Row 2 begins a quoted cell that never ends"],
    ["if it is an old Excel file", Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), "old Excel file"],
    ["if it is a web page", "<html><table><tr><td>UEI", "a web page"],
    ["if it is not text", Uint8Array.from({ length: 100 }, (_, i) => i % 5), "not a text file"],
    ["if it is too large", "x".repeat(50_001), "more than 0.05 MB"],
    ["if it has too many rows", `UEI\n${"1\n".repeat(12)}`, "more than 10 rows"],
    ["if it has too many columns", `UEI${",x".repeat(250)}\n`, "more than 200 cells"],
    ["if a row has any number of cells", `UEI\n${",".repeat(20_000)}`, "more than 200 cells"],
    ["if a row is too long", `UEI\n${"x".repeat(600)}\n`, "Row 2 has more than 500 characters"],
  ])("%s", async (_name, file, message) => {
    const limits = { bytes: 50_000, rows: 10, rowLength: 500 };
    const reading = readVendorFile(Buffer.from(file), { limits });
    await expect(reading).rejects.toThrow(VendorFileError);
    await expect(reading).rejects.toThrow(message);
  });
});

test("of bytes of any kind nothing but a VendorFileError comes", async () => {
  const book = workbook(textRow("UEI", "Name") + textRow(UEI, "Acme"));
  const isRefused = (bytes: Uint8Array) =>
    readVendorFile(bytes).then(
      () => undefined,
      (error: unknown) => expect(error).toBeInstanceOf(VendorFileError),
    );
  const damage = fc.record({ at: fc.nat(book.length - 1), byte: fc.nat(255) });
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), isRefused), { numRuns: 500 });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom(..."a,;\t\"'\r\n=1"), maxLength: 60 }), (text) =>
      isRefused(Buffer.from(text)),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const bytes = Buffer.from(book);
      for (const { at, byte } of damages) bytes[at] = byte;
      await isRefused(bytes);
    }),
    { numRuns: 500 },
  );
});

test("a list without rows is reported", async () => {
  expect((await read("UEI,Name\n")).problems.map(problemText)).toEqual([
    "The list has no row below the names of its columns",
  ]);
});

test("other work runs while a large file is read, and reading can be stopped", async () => {
  const row = `V-1,"Acme, Inc",12-3456780,${UEI},12 Main St,Boston,MA,02110,${"x".repeat(400)}\n`;
  const bytes = Buffer.from(`Vendor #,Name,EIN,UEI,Address,City,State,Zip,Note\n${row.repeat(10_000)}`);
  let turns = 0;
  const reading = readVendorFile(bytes).finally(() => (turns = -turns));
  while (turns >= 0) {
    turns++;
    await nextTurn();
  }
  // A turn for each 4 kB of text, and each 10,000 characters of cells.
  expect(-turns).toBeGreaterThan(bytes.length / 4_096 + bytes.length / 12_000);
  expect((await reading).rows).toHaveLength(10_000);
  const stopping = new AbortController();
  const stopped = readVendorFile(bytes, { signal: stopping.signal });
  stopping.abort();
  await expect(stopped).rejects.toThrow("aborted");
});
