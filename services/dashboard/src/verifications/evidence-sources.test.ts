import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { EvidenceSchema } from "@vvs/proto/verification/v1/verification";
import { sourceList } from "./evidence.ts";

const at = (text: string) => timestampFromDate(new Date(text));
const sources = [
  { part: "registration", origin: "sam_gov_api", dataAsOf: at("2026-11-23T09:30:04Z") },
  {
    ...{ part: "exclusions", origin: "sam_gov_exclusions", file: "EXCLUSIONS.csv", sha256: "ab" },
    dataAsOf: at("2026-11-22T00:00:00Z"),
  },
];

test.each([
  [
    "from SAM.gov names each of its parts: the API with the time, the file with the date on which it was cut",
    { origin: "sam_gov_api", sources },
    "Registration: SAM.gov API, answered 2026-11-23 09:30:04 UTC|Exclusions: SAM.gov exclusions file EXCLUSIONS.csv, cut on 22 November 2026, SHA-256 ab|",
  ],
  [
    "of another provider names it and the time",
    { origin: "taxbandits" },
    "TaxBandits, answered 2026-11-23 09:30:05 UTC|",
  ],
  ["that nobody gave has no source", { origin: "none" }, undefined],
])("an answer %s", (_name, evidence, text) => {
  const list = sourceList(create(EvidenceSchema, { createdAt: at("2026-11-23T09:30:05Z"), ...evidence }));
  expect(list ? list.markup.replaceAll("</li>", "|").replaceAll(/<[^>]+>/g, "") : undefined).toBe(text);
});
