import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Decision, JobResultSchema, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { apiResultColumns } from "./index.ts";

const cellsOf = (result: Parameters<typeof create<typeof JobResultSchema>>[1]) => {
  const row = create(JobResultSchema, result);
  const cells = apiResultColumns("https://api.example").map(([title, cell]) => [title, cell(row)]);
  return Object.fromEntries(cells.filter(([, cell]) => cell !== ""));
};

test("a verified row has its details, reasons and links to evidence", () => {
  const verification = {
    id: "ver_1",
    results: [
      {
        reason: "expired",
        evidenceId: "evd_1",
        details: { registrationStatus: "Active", expirationDate: "2027-01-31" },
      },
      { evidenceId: "evd_2", details: { tin: "****6780", name: "ACME" } },
    ],
  };
  expect(
    cellsOf({
      row: 2,
      outcome: RowOutcome.FAIL,
      decision: Decision.HOLD,
      nameAgrees: false,
      doubts: ["other_name"],
      verification,
    }),
  ).toEqual({
    row: "2",
    outcome: "fail",
    decision: "hold",
    name_agrees: "false",
    registration_status: "Active",
    expiration_date: "2027-01-31",
    asked_tin: "****6780",
    asked_name: "ACME",
    reasons: "expired; other_name",
    verification_id: "ver_1",
    evidence: "https://api.example/v1/evidence/evd_1; https://api.example/v1/evidence/evd_2",
  });
});

test("a row that was not verified has its candidates and problems", () => {
  const candidates = [{ id: "ent_1" }, { id: "ent_2" }];
  const problems = [{ path: "row", message: "Two match." }];
  expect(cellsOf({ row: 3, externalId: "V-3", outcome: RowOutcome.AMBIGUOUS, candidates, problems })).toEqual({
    ...{ row: "3", external_id: "V-3", outcome: "ambiguous", candidates: "ent_1; ent_2", problems: "row: Two match." },
  });
});
