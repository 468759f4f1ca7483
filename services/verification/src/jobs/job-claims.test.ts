import { expect, test } from "@jest/globals";
import { jobClaims, type NamedEvidence } from "./job-claims.ts";

const date = new Date("2026-11-02T00:00:00Z");
const source = { part: "registration", origin: "sam_gov_extract", date } as const;
const counts = { pass: 0, fail: 0, error: 0, ambiguous: 0, not_found: 0, conflict: 0, invalid: 0 };

function filesOf(sources: readonly Partial<NonNullable<NamedEvidence["sources"]>[number]>[]) {
  const { files } = jobClaims({
    issuer: "https://api.example.test",
    environment: "live",
    counted: { job: { _id: "job_1", created_at: date }, counts } as never,
    rows: [],
    verifications: [],
    evidence: sources.map((each, index) => ({ _id: `evd_${index}`, sha256: "", sources: [{ ...source, ...each }] })),
  });
  return files.map(({ file, sha256 }) => [file, sha256]);
}

test.each([
  [
    "a withdrawn file and a corrected one of the same name",
    [
      { file: "MONTHLY.dat", sha256: "b" },
      { file: "MONTHLY.dat", sha256: "a" },
      { file: "MONTHLY.dat", sha256: "b" },
    ],
    [
      ["MONTHLY.dat", "a"],
      ["MONTHLY.dat", "b"],
    ],
  ],
  ["one whose name is unknown", [{ sha256: "a" }], [[undefined, "a"]]],
  ["one whose name only some evidence has", [{ file: "X.dat", sha256: "a" }, { sha256: "a" }], [["X.dat", "a"]]],
  ["one whose hash is unknown", [{ file: "X.dat" }, { file: "X.dat" }], [["X.dat", undefined]]],
  ["no answer of an API", [{ origin: "sam_gov_api" }], []],
])("the receipt of a job lists %s, each once", (_what, sources, files) => {
  expect(filesOf(sources)).toEqual(files);
});
