import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { startDashboard, type TestDashboard, type Visitor } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { EMAIL } from "../testing/fake-services.ts";
import { EVIDENCE_ID, evidenceOf, VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

let dashboard: TestDashboard;
let visitor: Visitor;
const path = `/live/verifications/${VERIFICATION_ID}/certificate`;
const SHA256 = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";

beforeEach(async () => {
  dashboard = await startDashboard();
  visitor = dashboard.visitor();
  await visitor.signIn();
  const details = {
    registrationStatus: "active",
    expirationDate: "2027-03-31",
    legalName: "ACME WIDGETS",
    cage: "1ABC2",
    exclusions: { exclusions: [] },
    dataAsOf: timestampFromDate(new Date("2026-11-20T00:00:00Z")),
  };
  const result = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, evidenceId: EVIDENCE_ID, details };
  dashboard.state.verifications = [verificationOf({ results: [result] })];
  dashboard.state.evidence = [evidenceOf()];
  dashboard.state.entities = [
    {
      id: ENTITY_ID,
      legalName: "Acme <Widgets>",
      identifiers: { uei: "SANDBXACTVE1", tin: "****6789" },
      externalId: "V-1",
    },
  ];
});

afterEach(() => dashboard.close());

describe("a certificate", () => {
  test("shows what was asked, of which source, the answer, when, by whom, the hash and how to check it", async () => {
    const { status, text } = await visitor.get(path);
    expect(status).toBe(200);
    for (const part of [
      "Acme &lt;Widgets&gt;",
      "SANDBXACTVE1",
      "****6789",
      "V-1",
      "2026-11-21 07:41:46 UTC",
      `a user, ${EMAIL}`,
      "Is the vendor registered in SAM.gov, unexpired and not excluded?",
      "Active in SAM.gov until 31 March 2027. No exclusions.",
      "20 November 2026",
      "ACME WIDGETS, CAGE 1ABC2",
      "Second sandbox provider, answered 2026-11-21 07:41:46 UTC",
      "First sandbox provider: The provider answered with HTTP status 503.",
      SHA256,
      EVIDENCE_ID,
      `http://localhost:8081${path}/check`,
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("answers are invented");
    expect((await visitor.get(path.replace("/live/", "/test/"))).text).toContain("answers are invented");
  });

  test("says that its evidence was altered, deleted, or can’t be read", async () => {
    dashboard.state.evidence = [evidenceOf({ content: '{"a":2}' })];
    expect((await visitor.get(path)).text).toContain("no longer has this hash");
    dashboard.state.evidence = [];
    expect((await visitor.get(path)).text).toContain("Deleted, because its time was over.");
    dashboard.state.failures.set("getEvidence", new ServiceError("internal_error"));
    const { status, text } = await visitor.get(path);
    expect(status).toBe(200);
    expect(text).toContain("It can’t be read.");
  });

  test("of a check without an answer says so, and of another organization there is none", async () => {
    const result = { checkType: CheckType.TIN_MATCH, status: CheckStatus.ERROR, origin: "none", reason: "missing_tin" };
    dashboard.state.verifications = [verificationOf({ overallResult: CheckStatus.ERROR, results: [result] })];
    const { text } = await visitor.get(path);
    expect(text).toContain("no answer");
    expect(text).toContain("This vendor’s TIN is not known.");
    dashboard.state.verifications = [];
    expect((await visitor.get(path)).status).toBe(404);
    expect((await visitor.get(`${path}/check`)).status).toBe(404);
  });

  test("is a 503 with the navigation while verification is unavailable", async () => {
    await dashboard.stopVerification();
    const { status, text } = await visitor.get(path);
    expect(status).toBe(503);
    expect(text).toContain('href="/live/vendors"');
  });
});

describe("the check of a certificate", () => {
  const check = async (hash: string) => (await visitor.get(`${path}/check?sha256=${encodeURIComponent(hash)}`)).text;

  test("computes the hash again from the stored evidence", async () => {
    expect(await check("")).toContain(`<code>${SHA256}</code> <span class="state pass">unaltered</span>`);
    dashboard.state.evidence = [evidenceOf({ content: '{"a":2}' })];
    expect(await check("")).toContain('<span class="state fail">altered</span>');
  });

  test.each([
    [SHA256, "done", "the stored evidence matches it"],
    [` ${SHA256.slice(0, 30).toUpperCase()} ${SHA256.slice(30)}`, "done", "the stored evidence matches it"],
    [SHA256.replace("0", "1"), "problem", "No evidence of this verification has this hash."],
    ["<b>", "problem", "A SHA-256 has 64 digits"],
  ])("of the typed hash %s says %s: %s", async (typed, kind, said) => {
    const text = await check(typed);
    expect(text).toMatch(new RegExp(`class="notice ${kind}"[^>]*>[^<]*${said}`));
    expect(text).not.toContain("<b>");
  });

  test("of the right hash with altered evidence says that it must not be relied on", async () => {
    dashboard.state.evidence = [evidenceOf({ content: '{"a":2}' })];
    expect(await check(SHA256)).toContain("the stored evidence was altered");
  });
});
