import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { zip } from "@vvs/testing";
import { extractRowText, extractText, writeText } from "../testing/registry-files.ts";
import { type ExtractItem, readExtract, validateExtract } from "./extract.ts";

const other = extractRowText({ 1: "ZYXWVU987654", 12: "HARBOR TOOLS INC" });

async function itemsOf(path: string): Promise<ExtractItem[]> {
  const items: ExtractItem[] = [];
  for await (const group of readExtract(path)) items.push(...group);
  return items;
}

describe("a complete extract", () => {
  test.each(["\n", "\r\n"])("is accepted with its cut date, rows, sequence and SHA-256 (line end %j)", async (eol) => {
    const path = await writeText("SAM.dat", extractText([extractRowText({}), other], { eol }));
    const sha256 = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    expect(await validateExtract(path)).toMatchObject({
      fileName: "SAM.dat",
      cutDate: "2026-09-06",
      rows: 2,
      sequence: 8331,
      sha256,
    });
    const items = await itemsOf(path);
    expect(items).toMatchObject([
      { lineNumber: 2, row: { uei: "ABCDEF123456" } },
      { lineNumber: 3, row: { uei: "ZYXWVU987654" } },
    ]);
  });

  test("is read from the only .dat in a ZIP, which may contain other files", async () => {
    const archive = zip({
      "readme.txt": "hello",
      "SAM_PUBLIC.dat": extractText([extractRowText({})]),
      "__MACOSX/._SAM_PUBLIC.dat": "attributes",
    });
    const path = await writeText("SAM_PUBLIC.ZIP", archive);
    expect(await validateExtract(path)).toMatchObject({ fileName: "SAM_PUBLIC.ZIP", rows: 1 });
    expect(await itemsOf(path)).toMatchObject([{ row: { legal_name: "BLUE RIDGE TIMBER LLC" } }]);
  });

  test("is accepted with a bad row, which is returned with its line and reason", async () => {
    const rows = [extractRowText({}), `${extractRowText({ 12: "A|B" })}`, other];
    const path = await writeText("SAM.dat", extractText(rows));
    expect(await validateExtract(path)).toMatchObject({ rows: 3 });
    expect(await itemsOf(path)).toMatchObject([
      { lineNumber: 2 },
      { lineNumber: 3, reason: "the row has 143 fields instead of 142" },
      { lineNumber: 4, row: { uei: "ZYXWVU987654" } },
    ]);
  });

  test("may contain a line break inside NUL quotes, and a quote that is never closed spoils only one row", async () => {
    const rows = [extractRowText({ 12: "\0TWO|PART\nNAME\0" }), extractRowText({ 13: "\0OPEN" }), other];
    const path = await writeText("SAM.dat", extractText(rows));
    expect(await validateExtract(path)).toMatchObject({ rows: 3 });
    expect(await itemsOf(path)).toMatchObject([
      { lineNumber: 2, row: { legal_name: "TWO|PART\nNAME" } },
      { lineNumber: 4, reason: "a NUL quote is not closed" },
      { lineNumber: 5 },
    ]);
  });
});

describe("an extract that must not be loaded is refused with the reason", () => {
  const row = extractRowText({});
  const whole = extractText([row]);
  const v1 =
    "BOF PUBLIC 00000000 20140504 0000001 0000089\n111292429||7LBF7|!end\nEOF PUBLIC 00000000 20140504 0000001 1\n";
  test.each<[string, string, string | Uint8Array, RegExp]>([
    ["the V1 layout", "a.dat", v1, /old V1 layout \(150 fields, DUNS first\); the V2 layout is needed/],
    ["a sensitive extract", "a.dat", whole.replaceAll("PUBLIC", "FOUO"), /is a FOUO extract; the PUBLIC/],
    [
      "fewer rows than promised",
      "a.dat",
      extractText([row], { count: 895932 }),
      /promises 895932 rows, the file has 1/,
    ],
    ["no trailer and too few rows", "a.dat", extractText([row], { count: 2 }).replace(/EOF.*\n/, ""), /truncated/],
    ["no trailer", "a.dat", whole.replace(/EOF.*\n/, ""), /has no EOF line: it is truncated/],
    ["a trailer with another count", "a.dat", whole.replace(/EOF(.*)0000001 /, "EOF$10000002 "), /disagree on rows/],
    ["a trailer with another date", "a.dat", whole.replace(/EOF(.*)20260906/, "EOF$120260801"), /disagree on cutDate/],
    ["rows after the trailer", "a.dat", `${whole}${row}\n`, /goes on after its EOF line, at line 4/],
    ["an invalid header date", "a.dat", whole.replaceAll("20260906", "20261399"), /is not a SAM public extract V2/],
    ["text of another kind", "a.dat", "name,city\nA,B\n", /is not a SAM public extract V2: it starts without/],
    ["nothing", "a.dat", "", /is empty/],
    ["no row with the right layout", "a.dat", extractText(["a|b|!end"]), /1 of the 1 rows .*\(line 2: /],
    [
      "more bad rows than good",
      "a.dat",
      extractText([row, "a|!end", "b|!end"]),
      /2 of the 3 rows .*\(line 3: .*; line 4: /,
    ],
    ["not UTF-8", "a.dat", Buffer.from(whole.replace("BLUE", "BL\u00dcE"), "latin1"), /is not UTF-8/],
    ["a ZIP only by its name", "a.ZIP", whole, /is not a ZIP archive/],
    ["a ZIP without a .dat", "a.zip", zip({ "a.csv": "x" }), /exactly one \.dat file, and has 0/],
    ["a ZIP with two", "a.zip", zip({ "a.dat": whole, "b.DAT": whole }), /exactly one \.dat file, and has 2/],
    ["half a ZIP", "a.zip", zip({ "a.dat": whole }).subarray(0, 60), /is a damaged ZIP/],
  ])("%s", async (_, name, content, message) => {
    const path = await writeText(name, content);
    await expect(validateExtract(path)).rejects.toThrow(message);
    await expect(validateExtract(path)).rejects.toHaveProperty("name", "RegistryFileError");
  });

  test("a ZIP with content that does not match its checksum", async () => {
    const archive = zip({ "a.dat": extractText([row, other]) });
    const sum = archive.indexOf("PK\x01\x02", 0, "latin1") + 16;
    archive.writeUInt32LE(archive.readUInt32LE(sum) ^ 1, sum);
    await expect(validateExtract(await writeText("a.zip", archive))).rejects.toThrow(/it is damaged/);
  });

  test("a ZIP with damaged content", async () => {
    const archive = zip({ "a.dat": extractText([row, other]) });
    archive.fill(0xff, 60, 90);
    const path = await writeText("a.zip", archive);
    await expect(validateExtract(path)).rejects.toThrow(/it is damaged/);
  });

  test("a file that does not exist", () =>
    expect(validateExtract("/nowhere/a.dat")).rejects.toThrow("a.dat cannot be read"));
});
