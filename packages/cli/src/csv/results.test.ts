import { expect, test } from "@jest/globals";
import { parse } from "csv-parse/sync";
import { verificationOf } from "../testing/fake-api.ts";
import type { Outcome } from "./journal.ts";
import { type RowOutcome, resultsCsv } from "./results.ts";
import { parseVendors } from "./vendors.ts";

function verified(uei: string): Outcome {
  const body = { identifiers: { uei }, checks: ["sam_registration"] };
  const call = { method: "POST", path: "/v1/verify", key: undefined, idempotencyKey: "cli-12345678", body };
  return { verification: verificationOf(call) } as Outcome;
}

function resultRows(text: string, outcomes: readonly RowOutcome[]): Record<string, string>[] {
  const written = resultsCsv(parseVendors(text, "f.csv"), outcomes, ["sam_registration"]);
  return parse(written, { columns: true, bom: true });
}

test("a row keeps its columns and gets the result, the evidence and the facts", () => {
  expect(resultRows("vendor no,uei\n7,UF\n", [verified("UF")])).toEqual([
    {
      "vendor no": "7",
      uei: "UF",
      verification_result: "fail",
      verification_error: "",
      verification_id: "ver_12345678",
      verification_entity_id: "ent_UF",
      verification_created_at: "2026-11-21T09:30:00.000Z",
      sam_registration_status: "fail",
      sam_registration_reason: "excluded",
      sam_registration_evidence: "http://api.example/v1/evidence/evd_UF",
      sam_registration_registration_status: "active",
      sam_registration_expiration_date: "2099-03-31",
    },
  ]);
});

test("a refused row says why", () => {
  const refusal = { refusal: { code: "entity_not_found", message: "There is none." } };
  const rows = resultRows("uei\nA\nB\n", [refusal, { problem: "no identifier" }]);
  expect(rows.map(({ verification_result, verification_error }) => [verification_result, verification_error])).toEqual([
    ["refused", "entity_not_found: There is none."],
    ["refused", "no identifier"],
  ]);
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])("a spreadsheet does not run the cell %j", (cell) => {
  const text = `uei,note,"${cell}"\nUP,"${cell}",x\n`;
  const [row] = resultRows(text, [verified("UP")]);
  expect(row!.note).toBe(`'${cell}`);
  expect(Object.keys(row!)[2]).toBe(`'${cell}`);
});

test("a TIN is written with its last 4 digits only", () => {
  const rows = resultRows("TIN\n12-3456789\n12345\n\n", [verified("UP"), { problem: "x" }]);
  expect(rows.map((row) => row.TIN)).toEqual(["****6789", "****"]);
});

test("results that are verified again have each column once", () => {
  const [row] = resultRows("verification_result,uei\nfail,UP\n", [verified("UP")]);
  expect(row!.verification_result).toBe("pass");
});

test("the results have the separator and the byte order mark of the vendors", () => {
  const written = resultsCsv(parseVendors("\uFEFFuei;note\nUP;a,b\n", "f.csv"), [verified("UP")], []);
  expect(
    written
      .split("\n")
      .slice(0, 2)
      .map((line) => line.split(";").slice(0, 3)),
  ).toEqual([
    ["\uFEFFuei", "note", "verification_result"],
    ["UP", "a,b", "pass"],
  ]);
});

test.each([
  ["=1+1", "'=1+1"],
  ["  =1+1", "'  =1+1"],
  ["＝1", "'＝1"],
  ["a;=1+1", "a;'=1+1"],
  ["a; @SUM(A1)", "a; '@SUM(A1)"],
  ["a\t-1", "a\t'-1"],
  ["Smith-Jones; Co", "Smith-Jones; Co"],
])("the cell %j begins no formula in any spreadsheet", (note, expected) => {
  const [row] = resultRows(`uei,note\nUP,"${note}"\n`, [verified("UP")]);
  expect(row!.note).toBe(expected);
});
