import { expect, test } from "@jest/globals";
import { readVendorFile } from "@vvs/vendor-files";
import { parse } from "csv-parse/sync";
import { verificationOf } from "../testing/fake-api.ts";
import type { Outcome } from "./journal.ts";
import { type RowOutcome, resultsCsv } from "./results.ts";

function verified(uei: string): Outcome {
  const body = { identifiers: { uei }, checks: ["sam_registration"] };
  const call = { method: "POST", path: "/v1/verify", key: undefined, idempotencyKey: "cli-12345678", body };
  return { verification: verificationOf(call) } as Outcome;
}

async function resultRows(text: string, outcomes: readonly RowOutcome[]): Promise<Record<string, string>[]> {
  const written = resultsCsv(await readVendorFile(Buffer.from(text)), outcomes, ["sam_registration"]);
  return parse(written, { columns: true, bom: true });
}

test("a row keeps its columns and gets the result, the evidence and the facts", async () => {
  expect(await resultRows("vendor no,uei\n7,UF\n", [verified("UF")])).toEqual([
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

test("a refused row says why", async () => {
  const refusal = { refusal: { code: "entity_not_found", message: "There is none." } };
  const rows = await resultRows("uei\nA\nB\n", [refusal, { problem: "no identifier" }]);
  expect(rows.map(({ verification_result, verification_error }) => [verification_result, verification_error])).toEqual([
    ["refused", "entity_not_found: There is none."],
    ["refused", "no identifier"],
  ]);
});

test("a spreadsheet runs no cell and no name of a column", async () => {
  const [row] = await resultRows('uei,note,"=1+1"\nUP,"@SUM(A1)",x\n', [verified("UP")]);
  expect(Object.entries(row!).slice(1, 3)).toEqual([
    ["note", "'@SUM(A1)"],
    ["'=1+1", "x"],
  ]);
});

test("a TIN is written with its last 4 digits only", async () => {
  const rows = await resultRows("TIN\n12-3456780\n12345\n\n", [verified("UP"), { problem: "x" }]);
  expect(rows.map((row) => row.TIN)).toEqual(["****6780", "****"]);
});

test("results that are verified again have each column once", async () => {
  const [row] = await resultRows("verification_result,uei\nfail,UP\n", [verified("UP")]);
  expect(row!.verification_result).toBe("pass");
});
