import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { csvRow, type RowResult, readVendorFile, writeResults } from "./index.ts";

const UEI = "UE9QJD4KK1L6";

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += chunk;
  return text;
}

async function results(list: string | Uint8Array, found: (RowResult | undefined)[]): Promise<string> {
  return textOf(writeResults(await readVendorFile(Buffer.from(list)), found));
}

const result: RowResult = {
  outcome: "pass",
  decision: "review",
  checks: [
    { reason: "expired", legal_name: "ACME TOOLS LLC", expiration_date: "2027-01-31" },
    { reason: "", legal_name: "Other", tin: "12-3456780", name: "Acme" },
  ],
  doubts: ["The name differs"],
  problems: [
    { path: "row", message: "No entity matches." },
    { path: "tin", message: "is odd" },
  ],
  candidates: [{ id: "ent_9", legal_name: "Acme Two" }],
  evidence: "https://example.com/verifications/ver_1",
};

test("results have every row with all its own columns, and TINs masked", async () => {
  const list = `Note,UEI,Tax ID,Second EIN\nx,${UEI},12-3456780,\n\ny,bad,1234567,N/A,beyond\n`;
  const named = list.replace("Second EIN", "SSN");
  const added = "outcome,decision,registry_name,asked_tin,asked_name,expires_on,reasons,evidence".split(",");
  expect(await results(named, [result, { outcome: "invalid" }])).toBe(
    csvRow(["Note", "UEI", "Tax ID", "SSN", "", ...added]) +
      csvRow([
        "x",
        UEI,
        "****6780",
        "",
        "",
        "pass",
        "review",
        "ACME TOOLS LLC",
        "****6780",
        "Acme",
        "2027-01-31",
        "expired; The name differs; No entity matches.; tin is odd; may be ent_9 (Acme Two)",
        "https://example.com/verifications/ver_1",
      ]) +
      csvRow(["y", "bad", "****", "N/A", "beyond", "invalid", "", "", "", "", "", "", ""]),
  );
});

test("a row without a result is not left out", async () => {
  const written = await results(`UEI\n${UEI}\n${UEI}\n${UEI}\n`, [undefined, result]);
  expect(written.split("\r\n").map((line) => line.split(",")[1])).toEqual([
    '"outcome"',
    '""',
    '"pass"',
    '""',
    undefined,
  ]);
});

test.each<[string, Uint8Array, string]>([
  ["UTF-8", Buffer.from("UEI;Note\n1;2\n"), '"UEI";'],
  ["UTF-8 with a byte order mark", Buffer.from("\ufeffUEI\tNote\n1\t2\n"), '\ufeff"UEI"\t'],
  [
    "Windows-1252",
    Uint8Array.from([..."UEI,No", 0xe9, ..."\n1,2\n"], (c) => (typeof c === "string" ? c.charCodeAt(0) : c)),
    '\ufeff"UEI",',
  ],
])(
  "results of a file in %s keep its delimiter, and a byte order mark where Excel needs it",
  async (_name, bytes, start) => {
    const written = await textOf(writeResults(await readVendorFile(bytes), []));
    expect(written.startsWith(start)).toBe(true);
  },
);

test("results are a list that can be read again, with the same columns and cells", async () => {
  const list = `Vendor Name,UEI,outcome\n@Home Inc,${UEI},own\n"a;=1",x,\n`;
  const first = await readVendorFile(Buffer.from(list));
  const again = await readVendorFile(Buffer.from(await textOf(writeResults(first, [result, result]))));
  expect([again.columns, again.rows.map(({ cells, vendor }) => ({ cells, vendor }))]).toEqual([
    first.columns,
    first.rows.map(({ cells, vendor }) => ({ cells, vendor })),
  ]);
});

describe("with any content of cells,", () => {
  const cell = fc.string({ unit: fc.constantFrom(..."ab1 \t\r\n'\"=+-@,;|\uff1d\u00a0é"), maxLength: 8 });
  const line = fc.array(cell, { minLength: 2, maxLength: 3 });

  test.each([",", ";", "\t", "|"])(
    "writing and reading them again changes nothing, with the delimiter %j",
    async (delimiter) => {
      await fc.assert(
        fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), async (lines) => {
          const rows = lines.map((cells) => ["x", ...cells.slice(0, 2)]);
          const text = [["UEI", "Note", "More"], ...rows].map((cells) => csvRow(cells, delimiter)).join("");
          const file = await readVendorFile(Buffer.from(`sep=${delimiter}\n${text}`));
          expect(file.rows.map(({ cells }) => cells)).toEqual(rows);
        }),
        { numRuns: 300 },
      );
    },
  );

  test("no cell begins a formula, with any delimiter that a spreadsheet expects", () => {
    fc.assert(
      fc.property(cell, fc.constantFrom(",", ";", "\t"), (text, delimiter) => {
        const written = csvRow([text], delimiter).slice(1, -3).replaceAll('""', '"');
        const others = [",", ";", "\t", "\n", "\r"].filter((each) => each !== delimiter);
        const parts = others.reduce((all, other) => all.flatMap((part) => part.split(other)), [written]);
        expect(written).not.toMatch(/^[\t\r\n]/);
        for (const part of [written, ...parts]) expect(part).not.toMatch(/^\s*[=+\-@\uff1d]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
