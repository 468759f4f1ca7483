import { createClient } from "@vendor-verification/client";

const client = createClient({
  baseUrl: process.env.VENDOR_VERIFICATION_BASE_URL ?? "",
  apiKey: process.env.VENDOR_VERIFICATION_API_KEY ?? "",
});

const verification = await client.verify({
  identifiers: { uei: "SANDBXACTVE1" },
  checks: ["sam_registration"],
  mode: "realtime",
});
const { entity_id: entityId, id: verificationId } = verification;
const evidenceId = verification.results[0].evidence_uri;
const { id: monitorId } = await client.createMonitor({ entity_id: entityId, checks: ["sam_registration"] });
const { id: jobId } = await client.createJob({
  checks: ["sam_registration"],
  mode: "realtime",
  vendors: [{ identifiers: { uei: "SANDBXERRR01" } }],
});
console.log(verification.overall_result);
