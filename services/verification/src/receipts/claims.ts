import type { Environment } from "@vvs/tenant";
import type { EvidenceDocument, ResultDocument, VerificationDocument } from "../documents.ts";

/**
 * Returns what the receipt of a verification says, with the field names and values of the public API. Evidence that is no
 * longer stored is left out. `issuer` is the API's public base URL, without a trailing slash.
 */
export function receiptClaims(options: {
  issuer: string;
  environment: Environment;
  verification: VerificationDocument;
  evidence: readonly EvidenceDocument[];
}) {
  const { issuer, environment, verification, evidence } = options;
  return {
    iss: issuer,
    sub: verification._id,
    iat: Math.floor(verification.created_at.getTime() / 1_000),
    environment,
    verification: {
      id: verification._id,
      entity_id: verification.entity_id,
      overall_result: verification.overall_result,
      results: verification.results.map((result) => resultOf(result, issuer)),
      created_at: verification.created_at,
    },
    evidence: evidence.map(({ _id: id, check_type, sha256, sources = [] }) => ({
      ...{ id, check_type, sha256 },
      sources: sources.map(({ part, origin, date, file, sha256 }) => ({
        part,
        origin,
        data_as_of: date,
        file,
        sha256,
      })),
    })),
  };
}

function resultOf({ evidence_id, reason, details, ...result }: ResultDocument, issuer: string) {
  const { exclusions, same_name, ...facts } = details ?? {};
  return {
    ...result,
    determinism: "deterministic",
    evidence_uri: `${issuer}/v1/evidence/${evidence_id}`,
    ...filled({ reason }),
    ...(details && {
      details: {
        ...filled(facts),
        // What was stored before effects were known counts as a bar.
        ...(exclusions && {
          exclusions: exclusions.map((each) => ({ ...filled(each), effect: each.effect ?? "bar" })),
        }),
        ...(same_name && { same_name: same_name.map(filled) }),
      },
    }),
  };
}

/** Returns the fields that are not empty: an empty text means absent. */
function filled(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}
