import type { JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { chainOf, ENTITY_ID } from "../testing/fake-entity.ts";
import { confirmedRunOf, MONITOR_ID } from "../testing/fake-monitor.ts";
import { EMAIL } from "../testing/fake-sessions.ts";
import { EVIDENCE_ID, evidenceOf, VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();
const path = `/live/verifications/${VERIFICATION_ID}/certificate`;
const SHA256 = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";

beforeEach(() => {
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
      identifiers: { uei: "SANDBXACTVE1", tin: "****6780" },
    },
  ];
  dashboard.state.snapshots = versions({ legal_name: "Acme <Widgets>", identifiers: { uei: "SANDBXACTVE1" } });
});

/** Versions of the vendor, newest first: the first is older than the verification, the others are newer. */
const versions = (...of: JsonObject[]): ReturnType<typeof chainOf> =>
  chainOf(...of)
    .map((each, place) => (place === 0 ? { ...each, createdAt: "2026-11-21T07:00:00.000Z" } : each))
    .reverse();

/** Adds a TIN match to the verification, and what was decided of it. */
const alsoMatched = (details: object, payment: object = { doubts: [] }) => {
  const [verification] = dashboard.state.verifications;
  const match = { checkType: CheckType.TIN_MATCH, status: CheckStatus.PASS, details };
  const results = [...(verification!.results ?? []).slice(0, 1), match];
  dashboard.state.verifications = [verificationOf({ results: results as never, payment })];
};

describe("a certificate", () => {
  test("ends with its receipt, which others can check without an account, where receipts are configured", async () => {
    expect((await visitor.get(path)).text).not.toContain("Receipt");
    dashboard.state.receipt = "aaa.bbb.ccc";
    const { text } = await visitor.get(path);
    expect(text).toContain("<code>aaa.bbb.ccc</code>");
    expect(text).toContain('<a class="url" href="/receipts">http://localhost:8081/receipts</a>');
    const file = await visitor.get(path.replace("certificate", "receipt"));
    expect([file.status, file.text]).toEqual([200, "aaa.bbb.ccc"]);
    expect(dashboard.state.calls.filter((call) => call.startsWith("getReceipt"))).toEqual(
      Array(3).fill("getReceipt https://api.acme.example"),
    );
  });

  test("is complete without its receipt while that can’t be read", async () => {
    dashboard.state.receipt = "aaa.bbb.ccc";
    dashboard.fail("getReceipt", "internal_error");
    const { status, text } = await visitor.get(path);
    expect([status, text.includes("Receipt"), text.includes(SHA256)]).toEqual([200, false, true]);
  });

  test("of a monitor’s verification says what its scheduled checks found since, in our data", async () => {
    const at = timestampFromDate(new Date("2026-09-24T09:30:00.250Z"));
    const [{ results } = {}] = dashboard.state.verifications;
    dashboard.state.verifications = [verificationOf({ createdAt: at, actor: MONITOR_ID, results: results as never })];
    dashboard.state.confirmedRuns = [confirmedRunOf({ at })];
    dashboard.state.calls.length = 0;
    const { text } = await visitor.get(path);
    expect(text).toContain(
      "No change found in our data up to 6 October 2026, 14:00 UTC. Registration data of 5 October 2026, exclusions of 6 October 2026.",
    );
    expect(text).toContain("The monitor made 12 scheduled checks of stored data.");
    expect(dashboard.callsOf("listConfirmedRuns")).toMatchObject([
      { entityIds: [ENTITY_ID], before: "2026-09-24T09:30:00.251Z" },
    ]);
    dashboard.state.verifications = [verificationOf({ createdAt: at, actor: "usr_1", results: results as never })];
    expect((await visitor.get(path)).text).not.toContain("No change found");
  });

  test("shows what was asked, of which source, the answer, when, by whom, the hash and how to check it", async () => {
    const { status, text } = await visitor.get(path);
    expect(status).toBe(200);
    for (const part of [
      "Acme &lt;Widgets&gt;",
      "SANDBXACTVE1",
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
      `http://localhost:8081${path}<`,
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("answers are invented");
    expect((await visitor.get(path.replace("/live/", "/test/"))).text).toContain("answers are invented");
  });

  test("names what its TIN match asked about, and warns where that is not the registered name", async () => {
    alsoMatched({ tin: "****2220", name: "Totally <Other> Company Inc" }, { doubts: ["other_name"] });
    const { text } = await visitor.get(path);
    expect(text).toContain("<dt>Name asked about</dt><dd><strong>Totally &lt;Other&gt; Company Inc</strong></dd>");
    expect(text).toContain("<dt>TIN asked about</dt><dd><code>****2220</code></dd>");
    expect(text).toContain("<dt>Registered name</dt><dd><strong>ACME WIDGETS</strong></dd>");
    expect(text).toContain("The name “Totally &lt;Other&gt; Company Inc” and the TIN ****2220 match");
    expect(text).toMatch(/class="notice warning">The name asked about is .* Check that both are the same/);
    expect((await visitor.get(path.replace("/certificate", ""))).text).toContain("Check that both are the same");
  });

  test("decides as it was decided when it was stored, by the name that its call or row gave", async () => {
    const [{ results } = {}] = dashboard.state.verifications;
    const payment = { givenName: "Totally Other Inc", nameAgrees: false, doubts: ["other_name"] };
    dashboard.state.verifications = [verificationOf({ results: results as never, payment })];
    const { text } = await visitor.get(path);
    expect(text).toContain("<strong>Review: the name differs from the registered one.</strong>");
    expect(text).toContain("<dt>Name asked about</dt><dd><strong>Totally Other Inc</strong></dd>");
    expect(text).toContain("notice warning");
    alsoMatched({ tin: "****2220", name: "Widget Traders" });
    const agreed = (await visitor.get(path)).text;
    expect(agreed).toContain("<strong>Pay: every check passed.</strong>");
    expect(agreed).not.toContain("notice warning");
  });

  test("lists exclusions that bear the vendor’s name", async () => {
    const [{ results } = {}] = dashboard.state.verifications;
    const [result] = results ?? [];
    const sameName = [
      { name: "ACME <WIDGETS>", agency: "HHS", activeDate: "2024-03-02", terminationDate: "indefinite" },
    ];
    const details = { ...result!.details, sameName };
    dashboard.state.verifications = [verificationOf({ results: [{ ...result, details }] as never })];
    for (const page of [path, path.replace("/certificate", "")]) {
      expect((await visitor.get(page)).text).toContain(
        "<li>“ACME &lt;WIDGETS&gt;”, excluded by HHS, since 2 March 2024, without an end date.</li>",
      );
    }
  });

  test("is as the vendor was then, also after its name, identifiers and TIN changed", async () => {
    alsoMatched({ tin: "****2220", name: "Acme Widgets" });
    const before = (await visitor.get(path)).text;
    dashboard.state.entities = [
      {
        id: ENTITY_ID,
        legalName: "Renamed Corp",
        identifiers: { uei: "SANDBXACTVE1", cage: "9ZZZ9", tin: "****9999" },
      },
    ];
    const older = { legal_name: "Acme <Widgets>", identifiers: { uei: "SANDBXACTVE1" } };
    const newer = { legal_name: "Renamed Corp", identifiers: { uei: "SANDBXACTVE1", cage: "9ZZZ9" } };
    dashboard.state.snapshots = versions(older, newer);
    const after = (await visitor.get(path)).text;
    expect(after).toBe(before);
    for (const text of [before, after]) {
      expect(text).toContain("Acme &lt;Widgets&gt;");
      expect(text).not.toMatch(/\*{4}(6780|9999)|Renamed|9ZZZ9/);
    }
  });

  test("says that its evidence was altered, deleted, or can’t be read", async () => {
    dashboard.state.evidence = [evidenceOf({ content: '{"a":2}' })];
    expect((await visitor.get(path)).text).toContain("no longer has this hash");
    dashboard.state.evidence = [];
    expect((await visitor.get(path)).text).toContain("Deleted, because its time was over.");
    dashboard.fail("getEvidence", "internal_error");
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
  });
});
