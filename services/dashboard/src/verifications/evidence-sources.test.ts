import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { EvidenceSourceSchema } from "@vvs/proto/verification/v1/verification";
import { evidenceSources } from "./evidence.ts";

const createdAt = new Date("2026-11-23T09:30:05Z");

test("an answer names where each of its parts is from: the file with the date on which it was cut, the API with the time", () => {
  const sources = [
    { part: "registration", origin: "sam_gov_api", dataAsOf: timestampFromDate(new Date("2026-11-23T09:30:04Z")) },
    {
      ...{ part: "exclusions", origin: "sam_gov_exclusions", file: "EXCLUSIONS.csv", sha256: "ab" },
      dataAsOf: timestampFromDate(new Date("2026-11-22T00:00:00Z")),
    },
  ].map((source) => create(EvidenceSourceSchema, source));
  expect(evidenceSources({ origin: "sam_gov_api", createdAt, sources })).toEqual([
    { part: "Registration", name: "SAM.gov API", file: "", date: "answered 2026-11-23 09:30:04 UTC", sha256: "" },
    {
      ...{ part: "Exclusions", name: "SAM.gov exclusions file", file: "EXCLUSIONS.csv" },
      ...{ date: "cut on 22 November 2026", sha256: "ab" },
    },
  ]);
});

test("any other answer names the provider and the time", () => {
  expect(evidenceSources({ origin: "taxbandits", createdAt, sources: [] })).toMatchObject([
    { part: "", file: "", date: "answered 2026-11-23 09:30:05 UTC" },
  ]);
});

test("without an answer there is no source", () => {
  expect(evidenceSources({ origin: "none", createdAt, sources: [] })).toEqual([]);
});
