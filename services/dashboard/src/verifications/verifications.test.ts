import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { keyOf } from "../testing/fake-services.ts";
import { EMAIL } from "../testing/fake-sessions.ts";
import { EVIDENCE_ID, VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();
const vendor = { id: ENTITY_ID, legalName: "Acme <Widgets>", identifiers: { uei: "SANDBXACTVE1", tin: "****6789" } };

beforeEach(() => {
  dashboard.state.verifications = [verificationOf()];
  dashboard.state.entities = [vendor];
});

describe("the list", () => {
  test("shows vendors by name, with results, times and links", async () => {
    const { status, text } = await visitor.get("/live/verifications");
    expect(status).toBe(200);
    expect(text).toContain(`<a href="/live/verifications/${VERIFICATION_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain('<span class="state pass">passed</span>');
    expect(text).toContain("2026-11-21 07:41:46 UTC");
    expect(dashboard.callsOf("listVerifications")[0]).toMatchObject({
      caller: { tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" }, actor: "usr_1" },
      page: { limit: 25 },
    });
  });

  test("shows the id of a vendor that no longer exists", async () => {
    dashboard.state.entities = [];
    const { text } = await visitor.get("/test/verifications");
    expect(text).toContain(`${ENTITY_ID}</a>`);
    expect(text).not.toContain("can’t be shown");
  });
});

describe("a verification", () => {
  const path = `/test/verifications/${VERIFICATION_ID}`;

  test("is shown with its vendor, requester, results and links to evidence", async () => {
    const { status, text } = await visitor.get(path);
    expect(status).toBe(200);
    expect(text).not.toContain("****6789");
    for (const part of [
      "<h1>Acme &lt;Widgets&gt;</h1>",
      `a user, <strong>${EMAIL}</strong>`,
      "providers, called at this time",
      "<dd>SAM.gov extract files</dd>",
      "2 days old",
      `href="/test/evidence/${EVIDENCE_ID}"`,
      `href="/test/verifications?entity_id=${ENTITY_ID}"`,
    ]) {
      expect(text).toContain(part);
    }
  });

  test.each([
    ["key_1", "an API key, <strong>Billing</strong>"],
    ["key_9", "an API key <code>key_9</code>"],
    ["mon_1", '<a href="/test/monitors/mon_1">a monitor</a> <code>mon_1</code>'],
  ])("requested by %s says so", async (actor, expected) => {
    dashboard.state.keys = [keyOf()];
    dashboard.state.verifications = [verificationOf({ actor, mode: Mode.CACHED })];
    const { text } = await visitor.get(path);
    expect(text).toContain(expected);
    expect(text).toContain("the newest stored answer, if there was one");
  });

  test("without an answer shows the reason, and neither confidence nor age", async () => {
    dashboard.state.verifications = [
      verificationOf({
        overallResult: CheckStatus.ERROR,
        results: [
          { checkType: CheckType.TIN_MATCH, status: CheckStatus.ERROR, origin: "none", reason: "missing_tin" },
          { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.ERROR, origin: "none", reason: "a_new_one" },
        ],
      }),
    ];
    const { text } = await visitor.get(path);
    expect(text).toContain("This vendor’s TIN is not known. Run the check again with the vendor’s TIN.");
    expect(text).toContain("<dd><code>missing_tin</code></dd>");
    expect(text).toContain("<dd><code>a_new_one</code></dd>");
    expect(text).toContain("no provider answered");
    expect(text).not.toMatch(/Confidence|\bold\b|View evidence</);
  });
});
