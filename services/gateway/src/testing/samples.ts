import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";

export const time = "2026-11-21T09:30:00.000Z";
/** The same as services send it. */
export const at = timestampFromDate(new Date(time));

export const entityId = newId("ent");
export const verificationId = newId("ver");
export const monitorId = newId("mon");
export const evidenceId = newId("evd");
const eventId = newId("evt");

/** An entity as the entity service sends it. */
export const entity = {
  id: entityId,
  legalName: "Acme Tools LLC",
  identifiers: { uei: "ABCDEFGHJKL1", tin: "****6789" },
  samGov: { registrationStatus: "active", cage: "1ABC2" },
  addresses: [{ type: "physical", line1: "1 Main St", city: "Springfield", state: "", zip: "62701", country: "USA" }],
  sources: [{ name: "organization", retrievedAt: at }],
  createdAt: at,
};

export const renderedEntity = {
  id: entityId,
  legal_name: "Acme Tools LLC",
  identifiers: { uei: "ABCDEFGHJKL1", tin: "****6789" },
  sam_gov: { registration_status: "active", cage: "1ABC2" },
  addresses: [{ type: "physical", line1: "1 Main St", city: "Springfield", state: "", zip: "62701", country: "USA" }],
  confidence: 1,
  sources: [{ name: "organization", retrieved_at: time }],
};

/** A verification as the verification service sends it. */
export const verification = {
  id: verificationId,
  entityId,
  overallResult: CheckStatus.FAIL,
  results: [
    {
      checkType: CheckType.SAM_REGISTRATION,
      status: CheckStatus.PASS,
      confidence: 1,
      origin: "sam_gov_extract",
      dataFreshnessSeconds: 3_600n,
      evidenceId,
      details: {
        registrationStatus: "active",
        expirationDate: "2027-03-31",
        legalName: "ACME TOOLS LLC",
        exclusions: {
          exclusions: [
            { program: "Reciprocal", terminationDate: "2026-12-31" },
            { terminationDate: "indefinite", effect: "product", comment: "Section 889" },
          ],
        },
        sameName: [{ name: "ACME TOOLS", agency: "HHS", terminationDate: "indefinite" }],
        dataAsOf: at,
      },
    },
    { checkType: CheckType.TIN_MATCH, status: CheckStatus.ERROR, origin: "none", evidenceId, reason: "missing_tin" },
  ],
  createdAt: at,
};

export const renderedVerification = {
  id: verificationId,
  entity_id: entityId,
  overall_result: "fail",
  results: [
    {
      check_type: "sam_registration",
      status: "pass",
      confidence: 1,
      origin: "sam_gov_extract",
      determinism: "deterministic",
      data_freshness_seconds: 3_600,
      evidence_uri: `https://api.example.test/v1/evidence/${evidenceId}`,
      details: {
        registration_status: "active",
        expiration_date: "2027-03-31",
        legal_name: "ACME TOOLS LLC",
        exclusions: [
          { program: "Reciprocal", termination_date: "2026-12-31", effect: "bar" },
          { termination_date: "indefinite", effect: "product", comment: "Section 889" },
        ],
        same_name: [{ name: "ACME TOOLS", agency: "HHS", termination_date: "indefinite" }],
        data_as_of: time,
      },
    },
    {
      check_type: "tin_match",
      status: "error",
      confidence: 0,
      origin: "none",
      determinism: "deterministic",
      data_freshness_seconds: 0,
      evidence_uri: `https://api.example.test/v1/evidence/${evidenceId}`,
      reason: "missing_tin",
    },
  ],
  created_at: time,
};

/** A monitor as the monitor service sends it. */
export const monitor = {
  id: monitorId,
  entityId,
  checks: [CheckType.SAM_REGISTRATION],
  frequency: Frequency.DAILY,
  webhookUrl: "https://example.com/hooks",
  status: "active",
  createdAt: at,
};

export const renderedMonitor = {
  id: monitorId,
  entity_id: entityId,
  checks: ["sam_registration"],
  frequency: "daily",
  webhook_url: "https://example.com/hooks",
  status: "active",
  created_at: time,
  consecutive_errors: 0,
};

export const event = {
  id: eventId,
  monitorId,
  entityId,
  changes: [{ field: "sam_registration.status", previous: "pass" }],
  verificationId,
  detectedAt: at,
};

export const renderedEvent = {
  id: eventId,
  event: "monitor.change_detected",
  monitor_id: monitorId,
  entity_id: entityId,
  changes: [{ field: "sam_registration.status", previous: "pass", current: "", detected_at: time }],
  verification_id: verificationId,
  detected_at: time,
};

/** Valid bodies, by path. */
export const bodies = {
  "/v1/entities/lookup": { identifiers: { uei: "abcdefghjkl1" } },
  "/v1/entities": { legal_name: "Acme Tools LLC" },
  "/v1/verify": { entity_id: entityId, checks: ["sam_registration"], mode: "realtime" },
  "/v1/verifications": { entity_id: entityId, checks: ["sam_registration"], mode: "cached" },
  "/v1/jobs": { checks: ["sam_registration"], mode: "cached", vendors: [{ entity_id: entityId }] },
  "/v1/monitors": { entity_id: entityId, checks: ["sam_registration"], webhook_url: "https://example.com/hooks" },
} as const;
