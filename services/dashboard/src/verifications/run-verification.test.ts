import { describe, expect, test } from "@jest/globals";
import type { ErrorCode } from "@vvs/errors";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { VERIFICATION_ID } from "../testing/fake-verification.ts";

const TIN = "912345678";
const { dashboard, visitor } = dashboardPerTest();

async function form(changes: Record<string, string | string[]> = {}) {
  return {
    form_token: await visitor.formToken("/test/verifications/new"),
    uei: "SANDBXACTVE1",
    cage: "",
    duns: "",
    tin: TIN,
    legal_name: "Acme",
    checks: ["sam_registration", "tin_match"],
    mode: "realtime",
    ...changes,
  };
}

const post = async (changes: Record<string, string | string[]> = {}) =>
  visitor.post("/test/verifications", await form(changes));

describe("a verification that is run", () => {
  test("is requested on behalf of the user, and shown on its own page", async () => {
    const { status, location } = await post();
    expect([status, location]).toEqual([303, `/test/verifications/${VERIFICATION_ID}`]);
    expect(dashboard.callsOf("verify")[0]).toEqual({
      caller: {
        tenant: { organizationId: "org_1", environment: "ENVIRONMENT_SANDBOX" },
        actor: "usr_1",
        requestId: expect.stringMatching(/^req_/),
        clientAddress: "127.0.0.1",
        createdEntities: 250_000,
      },
      vendor: { identifiers: { uei: "SANDBXACTVE1", tin: TIN }, legalName: "Acme" },
      checks: ["CHECK_TYPE_SAM_REGISTRATION", "CHECK_TYPE_TIN_MATCH"],
      mode: "MODE_REALTIME",
      idempotency: {
        apiKeyId: "usr_1",
        path: "/test/verifications",
        key: expect.stringMatching(/^[\w-]{43}$/),
        bodyHash: expect.any(String),
      },
    });
  });
});

describe("a form that is refused", () => {
  test("comes back with every problem beside its field, what was typed, and no TIN", async () => {
    const { status, text } = await post({ uei: "SANDBX", legal_name: `Acme ${TIN}`, checks: [], mode: "" });
    expect(status).toBe(400);
    for (const problem of [
      '<p class="field-problem" id="uei-problem">The UEI must be 12 letters and digits.</p>',
      'id="legal_name-problem"',
      'id="mode-problem"',
      'value="SANDBX"',
      'aria-describedby="uei-hint uei-problem" aria-invalid="true"',
    ]) {
      expect(text).toContain(problem);
    }
    expect(text).not.toContain(TIN);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("by the service comes back with its details beside the fields", async () => {
    const details = [
      { path: "vendor.identifiers.tin", message: "must be 9 digits" },
      { path: "checks[1]", message: "is not known" },
    ];
    dashboard.fail("verify", "invalid_request", { details });
    const { status, text } = await post();
    expect(status).toBe(400);
    expect(text).toContain('id="tin-problem">The TIN must be 9 digits.');
    expect(text).toContain('id="checks-problem">The choice of checks is not known.');
    expect(text).toContain('value="SANDBXACTVE1"');
    expect(text).not.toContain(TIN);
  });

  test.each<[ErrorCode, number]>([
    ["invalid_request", 400],
    ["limit_exceeded", 403],
    ["forbidden", 403],
    ["entity_exists", 409],
    ["ambiguous_match", 409],
  ])("with %s says why", async (code, status) => {
    const candidates = [{ id: ENTITY_ID, legalName: "Acme & Co", confidence: 1 }];
    const options = { message: "This is why.", entityId: ENTITY_ID, candidates };
    dashboard.fail("verify", code, options);
    const answer = await post();
    expect(answer.status).toBe(status);
    expect(answer.text).toContain("This is why.");
    expect(answer.text).not.toContain(TIN);
    expect(answer.text.includes(`/vendors/${ENTITY_ID}`)).toBe(status === 409);
    expect(answer.text.includes("Acme &amp; Co")).toBe(code === "ambiguous_match");
  });

  test("because verification is unavailable can be sent again as it is", async () => {
    const filled = await form();
    dashboard.fail("verify", "service_unavailable");
    const away = await visitor.post("/test/verifications", filled);
    expect(away.status).toBe(503);
    expect(away.text).toContain("The verification may not have finished");
    expect(away.text).not.toContain(TIN);
    dashboard.state.failures.clear();
    expect((await visitor.post("/test/verifications", filled)).status).toBe(303);
  });

  test("by an internal error is a page without the error's text", async () => {
    dashboard.fail("verify", "internal_error", { message: TIN });
    const { status, text } = await post();
    expect(status).toBe(500);
    expect(text).not.toContain(TIN);
  });
});
