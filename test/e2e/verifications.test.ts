import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { checkReceipt } from "@vendor-verification/client";
import { projectRoot } from "../../deploy/local/services.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";

const organization = await createOrganization();

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join("");
/** Returns a TIN with the last digit that decides the sandbox's answer. */
const tinEnding = (last: string) => `${digits(8)}${last}`;

const verify = (identifiers: object, more: object = {}) =>
  organization.sandbox.post("/v1/verify", { identifiers, checks: ["sam_registration"], mode: "realtime", ...more });

describe("a verification", () => {
  test("shows what each verdict rests on, also where a later call uses the stored answer", async () => {
    const tin = tinEnding("7");
    const asked = { checks: ["sam_registration", "tin_match"], legal_name: "Detailed Works LLC" };
    const { body } = await verify({ uei: "SANDBXACTVE1", tin }, asked);
    const [registration, match] = body.results;
    expect(registration.details).toEqual({
      registration_status: "active",
      expiration_date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      legal_name: expect.any(String),
      cage: expect.any(String),
      entity_type: expect.any(String),
      exclusions: [],
      data_as_of: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const asked_about = { tin: `****${tin.slice(-4)}`, name: "Detailed Works LLC" };
    expect(match.details).toEqual({ irs_code: "7", ...asked_about, data_as_of: expect.any(String) });
    const later = await verify({ uei: "SANDBXACTVE1", tin }, { ...asked, mode: "cached" });
    expect(later.body.results.map(({ details }: { details: object }) => details)).toEqual([
      registration.details,
      match.details,
    ]);
    expect((await verify({ uei: "SANDBXDEBAR1" })).body.results[0].details).toMatchObject({
      registration_status: "debarred",
      exclusions: [{ program: expect.any(String), active_date: expect.any(String) }],
    });
    expect((await verify({ uei: "SANDBXERRR01" })).body.results[0]).not.toHaveProperty("details");
  });
});

describe("live data comes from the loaded extract, which answers only what it can know", () => {
  const ask = async (identifiers: object) =>
    (await organization.live.post("/v1/verify", { identifiers, checks: ["sam_registration"], mode: "realtime" })).body
      .results[0];

  test.each([
    ["ZZNRTHWND001", "pass", "sam_gov_extract", undefined],
    ["ZZHARBRLT002", "fail", "sam_gov_extract", "expired"],
    ["ZZBLKTHRN004", "fail", "sam_gov_extract", "excluded"],
    ["ZZRENEWED003", "error", "none", "stale_source"],
    ["ZZUNHEARD999", "error", "none", "stale_source"],
    ["ZZGRANITE101", "fail", "sam_gov_extract", "excluded"],
  ])("%s: %s by %s (%s)", async (uei, status, origin, reason) => {
    const result = await ask({ uei });
    expect(result).toMatchObject({ status, origin });
    expect(result.reason).toEqual(reason);
    if (origin === "sam_gov_extract" && uei !== "ZZGRANITE101") {
      const cutAgeSeconds = (Date.now() - Date.parse("2026-09-06T00:00:00Z")) / 1000;
      expect(Math.abs(result.data_freshness_seconds - cutAgeSeconds)).toBeLessThan(2 * 86_400);
    }
  });
});

describe("an exclusion without a UEI and a CAGE that bears the vendor's name", () => {
  const verified = async (api: TestOrganization["live"], identifiers: object) => {
    const asked = { identifiers, checks: ["sam_registration"], mode: "realtime" };
    const { body } = await api.post("/v1/verify", asked);
    const cached = await api.post("/v1/verify", { ...asked, mode: "cached" });
    expect(cached.body.results[0].details).toEqual(body.results[0].details);
    return body;
  };

  test("is in the details and the evidence of live data, and changes no status", async () => {
    const { overall_result, results } = await verified(organization.live, { uei: "ZZPDMNTVN008" });
    const row = { name: "PIEDMONT VAN LINES", program: "Reciprocal", agency: "HHS", active_date: "2024-03-02" };
    const more = { type: "Prohibition/Restriction", termination_date: "indefinite" };
    expect(overall_result).toBe("pass");
    expect(results[0].details).toMatchObject({ exclusions: [], same_name: [{ ...row, ...more }] });
    const { content } = (await organization.live.get(results[0].evidence_uri)).body;
    expect(JSON.parse(content).same_names).toMatchObject([{ name: "PIEDMONT VAN LINES" }]);
    const other = await verified(organization.live, { uei: "ZZNRTHWND001" });
    expect(other.results[0].details).not.toHaveProperty("same_name");
  });

  test("is in the details of a vendor of the sandbox", async () => {
    const { overall_result, results } = await verified(organization.sandbox, { uei: "SANDBXSAMEN2" });
    expect([overall_result, results[0].details.same_name.length]).toEqual(["pass", 1]);
  });
});

test("a receipt of live data names the loaded file with its SHA-256, and says what GET says", async () => {
  const { live } = organization;
  const identifiers = { uei: "ZZNRTHWND001" };
  const { body } = await live.post("/v1/verify", { identifiers, checks: ["sam_registration"], mode: "realtime" });
  const receipt: string = (await live.get(`/v1/verifications/${body.id}/receipt`)).body;
  const claims = await checkReceipt(receipt, (await live.get("/.well-known/jwks.json")).body);
  expect(claims.environment).toBe("live");
  expect(claims.verification).toEqual((await live.get(`/v1/verifications/${body.id}`)).body);
  const { id, sha256, sources } = (await live.get(body.results[0].evidence_uri)).body;
  expect(claims.evidence).toEqual([{ id, check_type: "sam_registration", sha256, sources }]);
  const file = createHash("sha256").update(readFileSync(join(projectRoot, "test/fixtures/sam/registry.dat")));
  expect(sources[0]).toMatchObject({ part: "registration", file: "registry.dat", sha256: file.digest("hex") });
  expect(sources[1]).toMatchObject({ part: "exclusions", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect((await live.get(`/v1/verifications/${body.id}/receipt`)).body).toBe(receipt);
});

describe("evidence", () => {
  test("holds the answer as received, its hash and each attempt", async () => {
    const { body } = await verify({ uei: "SANDBXFALLB1" });
    const answer = await organization.sandbox.get(body.results[0].evidence_uri);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^evd_/),
      verification_id: body.id,
      check_type: "sam_registration",
    });
    expect(createHash("sha256").update(answer.body.content).digest("hex")).toBe(answer.body.sha256);
    expect(answer.body.attempts.map(({ provider, outcome }: Record<string, string>) => [provider, outcome])).toEqual([
      ["sandbox_primary", "throw"],
      ["sandbox_secondary", "pass"],
    ]);
  });
});
