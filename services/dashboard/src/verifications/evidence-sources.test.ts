import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { EvidenceSourceSchema } from "@vvs/proto/verification/v1/verification";
import { evidenceSources } from "./evidence-sources.ts";

const createdAt = new Date("2026-11-23T09:30:05Z");
const sourcesOf = (origin: string, content: unknown) =>
  evidenceSources({
    ...{ origin, createdAt, sources: [] },
    content: typeof content === "string" ? content : JSON.stringify(content),
  });
const fileNames = { registry_file: "MONTHLY.dat", exclusions_file: "EXCLUSIONS.csv" };
const cut = { origin: "sam_gov_extract", date: "2026-11-01T00:00:00.000Z", load: "1" };
const exclusions = { origin: "sam_gov_exclusions", date: "2026-11-22T00:00:00.000Z", load: "2" };
const asked = { origin: "sam_gov_api", date: "2026-11-23T09:30:04.000Z", load: "" };

test("an answer names where each of its parts is from: the file with the date on which it was cut, the API with the time", () => {
  const sources = [
    { part: "registration", origin: "sam_gov_api", dataAsOf: timestampFromDate(new Date("2026-11-23T09:30:04Z")) },
    {
      ...{ part: "exclusions", origin: "sam_gov_exclusions", file: "EXCLUSIONS.csv" },
      dataAsOf: timestampFromDate(new Date("2026-11-22T00:00:00Z")),
    },
  ].map((source) => create(EvidenceSourceSchema, source));
  expect(evidenceSources({ origin: "sam_gov_api", content: "", createdAt, sources })).toEqual([
    { part: "Registration", name: "SAM.gov API", file: "", date: "answered 2026-11-23 09:30:04 UTC" },
    { part: "Exclusions", name: "SAM.gov exclusions file", file: "EXCLUSIONS.csv", date: "cut on 22 November 2026" },
  ]);
});

test("an older answer from files names each file and the date on which it was cut", () => {
  expect(sourcesOf("sam_gov_extract", { ...fileNames, rests_on: { registration: cut, exclusions } })).toEqual([
    { part: "Registration", name: "SAM.gov extract files", file: "MONTHLY.dat", date: "cut on 1 November 2026" },
    { part: "Exclusions", name: "SAM.gov exclusions file", file: "EXCLUSIONS.csv", date: "cut on 22 November 2026" },
  ]);
});

test("an older answer of the API names the time, and the file that it was completed with", () => {
  const content = { answers: [], files: fileNames, rests_on: { registration: asked, exclusions } };
  expect(sourcesOf("sam_gov_api", content)).toMatchObject([
    { name: "SAM.gov API", file: "", date: "answered 2026-11-23 09:30:04 UTC" },
    { name: "SAM.gov exclusions file", file: "EXCLUSIONS.csv" },
  ]);
});

test.each([
  ["compliancely", { irs_code: 0 }],
  ["sandbox_primary", { rests_on: { registration: { origin: 1, date: "x" } } }],
  ["taxbandits", "no JSON"],
  ["taxbandits", "null"],
])("any other answer, such as one of %s, names the provider and the time", (origin, content) => {
  expect(sourcesOf(origin, content)).toMatchObject([{ part: "", file: "", date: "answered 2026-11-23 09:30:05 UTC" }]);
});

test("without an answer there is no source", () => {
  expect(sourcesOf("none", "")).toEqual([]);
});
