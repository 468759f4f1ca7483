import { describe, expect, test } from "@jest/globals";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { startTestGateway } from "../testing/gateway.ts";
import {
  at,
  bodies,
  entityId,
  evidenceId,
  renderedVerification,
  time,
  verification,
  verificationId,
} from "../testing/samples.ts";

const gateway = await startTestGateway();

describe("verifications", () => {
  test("POST /v1/verify by entity", async () => {
    gateway.verification.on("verify", () => ({ verification }));
    const { status, body } = await gateway.post("/v1/verify", {
      entity_id: entityId,
      checks: ["tin_match", "sam_registration", "tin_match"],
      mode: "cached",
    });
    expect([status, body]).toEqual([200, renderedVerification]);
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({
      target: { case: "entityId", value: entityId },
      checks: [CheckType.TIN_MATCH, CheckType.SAM_REGISTRATION],
      mode: Mode.CACHED,
    });
  });

  test("POST /v1/verify by identifiers, replayed", async () => {
    gateway.verification.on("verify", () => ({ verification, replayed: true }));
    const { status, headers } = await gateway.post(
      "/v1/verify",
      { identifiers: { tin: "21-3456789" }, legal_name: "Acme", checks: ["tin_match"], mode: "realtime" },
      { "Idempotency-Key": "k" },
    );
    expect(status).toBe(200);
    expect(headers.get("idempotency-replayed")).toBe("true");
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({
      target: { case: "vendor", value: { identifiers: { tin: "213456789" }, legalName: "Acme" } },
      mode: Mode.REALTIME,
    });
  });

  test("POST /v1/verify takes the placeholder of an entity's name for no name", async () => {
    gateway.verification.on("verify", () => ({ verification }));
    const identifiers = { uei: "ABCDEFGHJK41" };
    const named = { identifiers, legal_name: "Unknown entity (UEI ABCDEFGHJK41)" };
    await gateway.post("/v1/verify", { ...named, checks: ["tin_match"], mode: "realtime" });
    const vendor = { identifiers, legalName: "" };
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({ target: { case: "vendor", value: vendor } });
  });

  test("POST /v1/verifications", async () => {
    gateway.verification.on("verify", () => ({ verification }));
    const { status, body } = await gateway.post("/v1/verifications", bodies["/v1/verifications"]);
    expect([status, body]).toEqual([200, renderedVerification]);
  });

  test.each(["/v1/verify", "/v1/verifications"])(
    "%s answers text that is not an entity id with 404, without a call",
    async (path) => {
      const calls = gateway.verification.calls.length;
      const { status, body } = await gateway.post(path, { entity_id: "acme", checks: ["tin_match"], mode: "cached" });
      expect([status, body.error]).toEqual([404, "entity_not_found"]);
      expect(gateway.verification.calls).toHaveLength(calls);
    },
  );

  test("GET returns one verification, and evidence", async () => {
    gateway.verification.on("getVerification", () => ({ verification }));
    expect((await gateway.get(`/v1/verifications/${verificationId}`)).body).toEqual(renderedVerification);
    gateway.verification.on("getEvidence", () => ({
      evidence: {
        id: evidenceId,
        verificationId,
        checkType: CheckType.TIN_MATCH,
        origin: "none",
        sha256: "ab".repeat(32),
        attempts: [
          { provider: "taxbandits", outcome: "throw", reason: "timeout", startedAt: at, durationMs: 20_000n },
          { provider: "compliancely", outcome: "pass", startedAt: at, durationMs: 3n },
        ],
        sources: [
          {
            part: "registration",
            origin: "sam_gov_extract",
            dataAsOf: at,
            file: "MONTHLY.dat",
            sha256: "cd".repeat(32),
          },
          { part: "exclusions", origin: "sam_gov_api", dataAsOf: at },
        ],
        createdAt: at,
      },
    }));
    expect((await gateway.get(`/v1/evidence/${evidenceId}`)).body).toEqual({
      id: evidenceId,
      verification_id: verificationId,
      check_type: "tin_match",
      origin: "none",
      content: "",
      content_type: "",
      sha256: "ab".repeat(32),
      attempts: [
        { provider: "taxbandits", outcome: "throw", reason: "timeout", started_at: time, duration_ms: 20_000 },
        { provider: "compliancely", outcome: "pass", started_at: time, duration_ms: 3 },
      ],
      sources: [
        {
          ...{ part: "registration", origin: "sam_gov_extract", data_as_of: time },
          ...{ file: "MONTHLY.dat", sha256: "cd".repeat(32) },
        },
        { part: "exclusions", origin: "sam_gov_api", data_as_of: time },
      ],
      created_at: time,
    });
  });

  test("GET returns a receipt as a text, issued by the public base URL", async () => {
    gateway.verification.on("getReceipt", () => ({ receipt: "a.b.c" }));
    const { status, headers, body } = await gateway.get(`/v1/verifications/${verificationId}/receipt`);
    expect([status, headers.get("content-type"), body]).toEqual([200, "application/jwt", "a.b.c"]);
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({
      verificationId,
      issuer: "https://api.example.test",
      caller: { tenant: { environment: Environment.LIVE } },
    });
  });

  test("GET /v1/verifications filters by entity; text that is not an entity id gives an empty list, without a call", async () => {
    gateway.verification.on("listVerifications", () => ({ verifications: [verification] }));
    const { body } = await gateway.get(`/v1/verifications?entity_id=${entityId}`);
    expect(body).toEqual({ verifications: [renderedVerification], next_cursor: null });
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({ entityId, page: { limit: 25 } });
    const calls = gateway.verification.calls.length;
    const empty = await gateway.get("/v1/verifications?entity_id=acme");
    expect([empty.status, empty.body]).toEqual([200, { verifications: [], next_cursor: null }]);
    expect(gateway.verification.calls).toHaveLength(calls);
  });

  test("GET /v1/providers returns the providers of the key's environment", async () => {
    gateway.verification.on("listProviders", () => ({
      providers: [
        {
          name: "sam_gov_api",
          checks: [CheckType.SAM_REGISTRATION],
          state: "available",
          quotaRemaining: 0n,
          lastSuccessAt: at,
        },
        { name: "taxbandits", checks: [CheckType.TIN_MATCH], state: "unavailable" },
      ],
    }));
    const { value } = gateway.account.createKey({ environment: "sandbox" });
    const { body } = await gateway.send("GET", "/v1/providers", { key: value });
    expect(body).toEqual({
      providers: [
        {
          name: "sam_gov_api",
          checks: ["sam_registration"],
          state: "available",
          quota_remaining: 0,
          last_success_at: time,
        },
        { name: "taxbandits", checks: ["tin_match"], state: "unavailable" },
      ],
    });
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({ environment: Environment.SANDBOX });
  });
});
