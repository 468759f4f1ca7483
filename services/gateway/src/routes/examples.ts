/** Examples in the OpenAPI document and on the reference page. All belong together: one vendor from look-up to webhook. */

export const exampleIds = {
  entity: "ent_01m7yps8kqf59an8zca6rhtk3v",
  verification: "ver_01m7ygwpy7f5htf8hs2h8p3agy",
  evidence: "evd_01m7ygwpy7f0tsg6vbkgqtzc7n",
  monitor: "mon_01m7ygwhyfech9syvcmamk86eq",
  event: "evt_01m7ygwpy7f3hbpxmvr5c4zsjg",
  job: "job_01m7ygwpy7f3hbpxmvr5c4zsjh",
};
const at = "2026-11-21T07:42:19.091Z";

export const exampleEntity = {
  id: exampleIds.entity,
  legal_name: "Sandbox Active Vendor LLC",
  identifiers: { uei: "SANDBXACTVE1", cage: "1O000" },
  sam_gov: { registration_status: "active", cage: "1O000", expiration_date: "2099-03-31" },
  addresses: [{ type: "physical", line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701", country: "USA" }],
  confidence: 1,
  sources: [{ name: "sandbox_registry", retrieved_at: at }],
};

export const exampleCreatedEntity = {
  ...exampleEntity,
  legal_name: "Acme Tools LLC",
  identifiers: { tin: "****6780" },
  sam_gov: { registration_status: "inactive" },
  sources: [{ name: "organization", retrieved_at: at }],
};

export const exampleCandidates = {
  candidates: [
    { id: exampleIds.entity, legal_name: "Sandbox Active Vendor LLC", confidence: 0.93 },
    { id: "ent_01m7yps8kqf59an8zca6rhtk3w", legal_name: "Sandbox Active Vendors Inc", confidence: 0.88 },
  ],
};

export const exampleSnapshot = {
  id: "snp_01m7yps8kqf59an8zca6rhtk3x",
  entity_id: exampleIds.entity,
  organization_id: "org_01m7yps8kqf59an8zca6rhtk3y",
  version: 1,
  entity: exampleCreatedEntity,
  actor: "key_01m7yps8kqf59an8zca6rhtk3z",
  request_id: "req_01m7yps8kqf59an8zca6rhtk40",
  created_at: at,
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};

export const exampleVerification = {
  id: exampleIds.verification,
  entity_id: exampleIds.entity,
  overall_result: "pass",
  results: [
    {
      check_type: "sam_registration",
      status: "pass",
      confidence: 1,
      origin: "sandbox_primary",
      determinism: "deterministic",
      data_freshness_seconds: 0,
      evidence_uri: `https://api.example.com/v1/evidence/${exampleIds.evidence}`,
      details: { registration_status: "active", expiration_date: "2099-03-31", exclusions: [], data_as_of: at },
    },
  ],
  created_at: at,
};

/** The public key of the example receipt. */
export const exampleReceiptKeys = {
  keys: [
    {
      ...{ kty: "OKP", crv: "Ed25519", x: "6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw" },
      ...{ kid: "k1", use: "sig", alg: "EdDSA" },
    },
  ],
};

/** Signed with that key; shorter than a real one, with the first claims only. */
export const exampleReceipt =
  "eyJhbGciOiJFZERTQSIsInR5cCI6InZlcmlmaWNhdGlvbi1yZWNlaXB0K2p3dCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlLmNvbSIsInN1YiI6InZlcl8wMW03eWd3cHk3ZjVodGY4aHMyaDhwM2FneSIsImlhdCI6MTc5NTI0NjkzOX0.NQfltUj65ONyeVQeaK9e-7khaqVGxfSDwGH-6D22HOmltvMkbFKHV0V_ZgWlrNmBT2lbsWNGwgsTJUj1iMwbCQ";

export const exampleJob = {
  id: exampleIds.job,
  status: "completed",
  total: 1,
  file_rows: false,
  done: 1,
  counts: {
    ...{ pass: 1, fail: 0, error: 0, ambiguous: 0, not_found: 0 },
    ...{ conflict: 0, invalid: 0, limit_exceeded: 0, waiting: 0 },
  },
  created_at: at,
  completed_at: at,
  results_updated_at: at,
};

export const exampleJobResult = {
  row: 1,
  external_id: "V-1",
  outcome: "pass",
  decision: "pay",
  entity_id: exampleIds.entity,
  legal_name: "Sandbox Active Vendor LLC",
  name_agrees: true,
  verification: exampleVerification,
};

export const exampleEvidence = {
  id: exampleIds.evidence,
  verification_id: exampleIds.verification,
  check_type: "sam_registration",
  origin: "sandbox_primary",
  content: '{"status":"Active"}',
  content_type: "application/json",
  sha256: "0b5b2d1d7e5f4b7a8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d",
  attempts: [{ provider: "sandbox_primary", outcome: "pass", started_at: at, duration_ms: 1 }],
  sources: [],
  created_at: at,
};

export const exampleProviders = {
  providers: [
    { name: "sandbox_primary", checks: ["sam_registration", "tin_match"], state: "available", last_success_at: at },
  ],
};

export const exampleMonitor = {
  id: exampleIds.monitor,
  entity_id: exampleIds.entity,
  checks: ["sam_registration"],
  frequency: "daily",
  webhook_url: "https://example.com/webhooks",
  status: "active",
  created_at: at,
  next_run_at: at,
  consecutive_errors: 0,
};

const changes = [
  { field: "sam_registration.registration_status", previous: "active", current: "expired", detected_at: at },
];

/** An example of the last page of a list, with these items. */
export const lastPage = (items: object) => ({ "The last page": { ...items, next_cursor: null } });

export const exampleRun = { at, outcome: "pass", verification_id: exampleIds.verification, cause: "schedule" };

export const exampleEvent = {
  id: exampleIds.event,
  event: "monitor.change_detected",
  monitor_id: exampleIds.monitor,
  entity_id: exampleIds.entity,
  changes,
  verification_id: exampleIds.verification,
  detected_at: at,
};

export const exampleWebhook = {
  event: "monitor.change_detected",
  monitor_id: exampleIds.monitor,
  entity_id: exampleIds.entity,
  external_id: "V-10042",
  changes,
  verification_id: exampleIds.verification,
  delivered_at: "2026-11-21T07:42:19.187Z",
};
