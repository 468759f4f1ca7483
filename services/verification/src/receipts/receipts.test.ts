import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { createLocalJWKSet, jwtVerify } from "jose";
import { callerOf, evidenceOf, passing, putVendor, testProvider, verify } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";

const ISSUER = "https://api.example.test";
const SHA256 = "ab".repeat(32);
const date = new Date("2026-11-02T00:00:00.000Z");
const provider = testProvider("sam_gov_extract", "sam_registration", async () =>
  passing({
    dataDate: date,
    facts: { registration_status: "active", legal_name: "ACME LLC", cage: "" },
    details: {
      registration_status: "active",
      legal_name: "ACME LLC",
      cage: "",
      exclusions: [{ program: "Reciprocal", type: "", agency: "EPA", active_date: "", termination_date: "indefinite" }],
    },
    sources: [{ part: "registration", origin: "sam_gov_extract", date, file: "MONTHLY.dat", sha256: SHA256 }],
  }),
);

const service = await startTestService({ live: [provider], receiptKeys: [{ id: "k1", key: Buffer.alloc(32, 1) }] });
const vendor = putVendor(service);

const receiptOf = async (verificationId: string, organizationId = vendor.organizationId, of = Environment.LIVE) =>
  (await service.client.getReceipt({ caller: callerOf(organizationId, of), verificationId, issuer: ISSUER })).receipt;

/** Checks a receipt with the published keys; returns what it says. */
async function claimsOf(receipt: string) {
  const keys = createLocalJWKSet(JSON.parse((await service.client.getReceiptKeys({})).jwks));
  return (await jwtVerify(receipt, keys, { typ: "verification-receipt+jwt" })).payload;
}

test("a receipt has the results as the API shows them, the hash of each evidence, and its files with theirs", async () => {
  const checks = [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH];
  const { id, entityId, createdAt, results } = await verify(service, vendor, { checks });
  const evidence = await Promise.all(
    results.map(({ evidenceId }) => evidenceOf(service, evidenceId, vendor.organizationId)),
  );
  const receipt = await receiptOf(id);
  const at = new Date(Number(createdAt!.seconds) * 1_000 + createdAt!.nanos / 1e6).toISOString();
  expect(await claimsOf(receipt)).toEqual({
    iss: ISSUER,
    sub: id,
    iat: Number(createdAt!.seconds),
    environment: "live",
    verification: {
      id,
      entity_id: entityId,
      overall_result: "error",
      results: [
        {
          ...{ check_type: "sam_registration", status: "pass", confidence: 1, origin: "sam_gov_extract" },
          determinism: "deterministic",
          data_freshness_seconds: Number(results[0]!.dataFreshnessSeconds),
          evidence_uri: `${ISSUER}/v1/evidence/${results[0]!.evidenceId}`,
          details: {
            registration_status: "active",
            legal_name: "ACME LLC",
            exclusions: [{ program: "Reciprocal", agency: "EPA", termination_date: "indefinite", effect: "bar" }],
            data_as_of: date.toISOString(),
          },
        },
        {
          ...{ check_type: "tin_match", status: "error", confidence: 0, origin: "none" },
          determinism: "deterministic",
          data_freshness_seconds: 0,
          evidence_uri: `${ISSUER}/v1/evidence/${results[1]!.evidenceId}`,
          reason: results[1]!.reason,
        },
      ],
      created_at: at,
    },
    evidence: [
      {
        ...{ id: results[0]!.evidenceId, check_type: "sam_registration", sha256: evidence[0]!.sha256 },
        sources: [
          {
            ...{ part: "registration", origin: "sam_gov_extract", data_as_of: date.toISOString() },
            ...{ file: "MONTHLY.dat", sha256: SHA256 },
          },
        ],
      },
      { id: results[1]!.evidenceId, check_type: "tin_match", sha256: evidence[1]!.sha256, sources: [] },
    ],
  });
  expect(evidence[0]!.sources).toMatchObject([{ file: "MONTHLY.dat", sha256: SHA256 }]);
  expect(await receiptOf(id)).toBe(receipt);
});

test("a receipt of which evidence is no longer stored has the rest", async () => {
  const { id, results } = await verify(service, vendor, { checks: [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH] });
  await service.databases.live.collection<{ _id: string }>("evidence").deleteOne({ _id: results[0]!.evidenceId });
  expect(await claimsOf(await receiptOf(id))).toMatchObject({
    verification: { results: [{ check_type: "sam_registration" }, { check_type: "tin_match" }] },
    evidence: [{ id: results[1]!.evidenceId }],
  });
});

test("a receipt of the sandbox says so", async () => {
  const { id } = await verify(service, vendor, { environment: Environment.SANDBOX });
  const receipt = await receiptOf(id, vendor.organizationId, Environment.SANDBOX);
  expect((await claimsOf(receipt)).environment).toBe("sandbox");
});

test("nobody gets the receipt of another organization or environment", async () => {
  const { id } = await verify(service, vendor);
  for (const call of [
    () => receiptOf(id, newId("org")),
    () => receiptOf(id, vendor.organizationId, Environment.SANDBOX),
    () => receiptOf(newId("ver")),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "verification_not_found" });
  }
});
