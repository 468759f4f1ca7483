import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { GetRegistryRecordResponseSchema, RegistryRecordSchema } from "@vvs/proto/entity/v1/entity";
import type { Question } from "./provider.ts";
import { createSamGovExtract, extractVerdict } from "./sam-gov-extract.ts";

const CUT = "2026-11-02";
const EXCLUSIONS_CUT = "2026-11-19";
const TODAY = "2026-11-21";
const exclusion = { samNumber: "S4MR3X1", exclusionType: "Ineligible", terminationDate: "indefinite" };

function files(
  record: MessageInitShape<typeof RegistryRecordSchema> | undefined,
  more: MessageInitShape<typeof GetRegistryRecordResponseSchema> = {},
) {
  const listed = { uei: "ABCDEFGHJK12", cage: "1AB23", legalName: "ACME LLC", entityType: "Corporate Entity" };
  return create(GetRegistryRecordResponseSchema, {
    record: record && create(RegistryRecordSchema, { ...listed, ...record }),
    registryCutDate: CUT,
    registryFile: "SAM_PUBLIC_MONTHLY_V2_20261102.dat",
    exclusionsCutDate: EXCLUSIONS_CUT,
    exclusionsFile: "SAM_Exclusions_Public_Extract_V2_26323.csv",
    ...more,
  });
}

describe("what an extract can know on a later day", () => {
  test.each<[string, ReturnType<typeof files>, string]>([
    ["active, expiring later", files({ extractCode: "A", expirationDate: "2027-03-01" }), "pass"],
    ["active, expiring today", files({ extractCode: "A", expirationDate: TODAY }), "pass"],
    ["expired between the cut date and today", files({ extractCode: "A", expirationDate: "2026-11-20" }), "stale"],
    ["expired on the cut date itself", files({ extractCode: "A", expirationDate: CUT }), "stale"],
    ["expired before the cut date", files({ extractCode: "A", expirationDate: "2026-11-01" }), "fail expired"],
    ["code E, whatever the date", files({ extractCode: "E", expirationDate: "2026-11-20" }), "fail expired"],
    ["code E without a date", files({ extractCode: "E" }), "fail expired"],
    ["code A without a date", files({ extractCode: "A" }), "fail inactive"],
    ["another code", files({ extractCode: "I", expirationDate: "2027-03-01" }), "fail inactive"],
    ["an id only", files({ extractCode: "A", expirationDate: "2027-03-01", idOnly: true }), "fail not_registered"],
    ["flagged as excluded", files({ extractCode: "A", expirationDate: "2027-03-01", excluded: true }), "fail excluded"],
    ["excluded and expired since", files({ excluded: true, expirationDate: "2026-11-20" }), "fail excluded"],
    ["absent", files(undefined), "stale"],
    ["absent, but excluded", files(undefined, { exclusions: [exclusion] }), "fail excluded"],
    ["no file at all", files(undefined, { registryCutDate: "", exclusionsCutDate: "" }), "stale"],
  ])("%s", (_name, response, expected) => {
    const verdict = extractVerdict(response, TODAY);
    expect(verdict ? `${verdict.outcome} ${verdict.reason}`.trim() : "stale").toBe(expected);
  });

  test.each([
    ["the registry's cut date", files({ extractCode: "A", expirationDate: "2027-03-01" }), CUT],
    ["the registry's where its flag excludes", files({ excluded: true }, { exclusions: [exclusion] }), CUT],
    [
      "the exclusions' where they alone exclude",
      files({ extractCode: "A" }, { exclusions: [exclusion] }),
      EXCLUSIONS_CUT,
    ],
  ])("the data is dated by %s", (_name, response, date) => {
    expect(extractVerdict(response, TODAY)?.dataDate).toBe(date);
  });
});

describe("the provider", () => {
  const question: Question = {
    tenant: { organizationId: "org_1", environment: "live" },
    uei: "ABCDEFGHJK12",
    cage: "",
    legalName: "",
    tin: () => Promise.reject(new Error("sam_registration needs no TIN")),
    run: undefined,
  };
  const ask = (response: ReturnType<typeof files>) =>
    createSamGovExtract({
      entities: { getRegistryRecord: async () => response },
      now: () => new Date(`${TODAY}T09:30:00Z`),
    }).ask(question, { signal: new AbortController().signal });

  test("tells the facts, and keeps what the files hold as evidence", async () => {
    const answer = await ask(files({ extractCode: "A", expirationDate: "2027-03-01" }));
    expect(answer.facts).toEqual({
      registration_status: "active",
      expiration_date: "2027-03-01",
      legal_name: "ACME LLC",
      cage: "1AB23",
      entity_type: "Corporate Entity",
    });
    expect(answer.dataDate).toEqual(new Date("2026-11-02T00:00:00Z"));
    expect(JSON.parse(answer.content)).toMatchObject({
      record: { uei: "ABCDEFGHJK12", extract_code: "A" },
      registry_cut_date: CUT,
      registry_file: "SAM_PUBLIC_MONTHLY_V2_20261102.dat",
      exclusions_cut_date: EXCLUSIONS_CUT,
      exclusions: [],
    });
  });

  test("an excluded vendor without a row is debarred, and nothing else is known of it", async () => {
    expect((await ask(files(undefined, { exclusions: [exclusion] }))).facts).toEqual({
      registration_status: "debarred",
    });
  });

  test("throws stale_source, which is no fault of its own", async () => {
    await expect(ask(files(undefined))).rejects.toMatchObject({ reason: "stale_source", isFault: false });
  });
});
