import type { Environment } from "@vvs/tenant";
import type { EvidenceDocument, VerificationDocument } from "../documents.ts";
import type { RowDocument } from "./documents.ts";
import type { CountedJob } from "./job-store.ts";

/** Evidence without its content and its attempts. */
export type NamedEvidence = Pick<EvidenceDocument, "_id" | "sha256" | "sources">;

/**
 * Returns what the receipt of a job says, with the field names and values of the public API: each row with an outcome and the
 * SHA-256 of its evidence, and the files that the evidence rests on. Evidence that is no longer stored is left out.
 */
export function jobClaims(options: {
  /** The API's public base URL, without a trailing slash. */
  issuer: string;
  environment: Environment;
  counted: CountedJob;
  rows: readonly RowDocument[];
  verifications: readonly VerificationDocument[];
  evidence: readonly NamedEvidence[];
}) {
  const { issuer, environment, counted, rows, verifications, evidence } = options;
  const { job } = counted;
  const { pay: _pay, hold: _hold, ...counts } = counted.counts;
  const evidenceOf = new Map(evidence.map((each) => [each._id, each]));
  const hashesOf = new Map(
    verifications.map(({ _id, results }) => [
      _id,
      results.flatMap(({ evidence_id }) => evidenceOf.get(evidence_id)?.sha256 ?? []),
    ]),
  );
  return {
    iss: issuer,
    sub: job._id,
    iat: Math.floor((job.results_updated_at ?? job.created_at).getTime() / 1_000),
    environment,
    job: {
      ...{ id: job._id, status: job.status, total: job.total, counts },
      ...{ created_at: job.created_at, completed_at: job.completed_at },
    },
    files: filesOf(evidence),
    results: rows.map(({ row, result }) => {
      const { outcome, decision, entity_id, verification_id } = result!;
      return { row, outcome, decision, entity_id, verification_id, evidence: hashesOf.get(verification_id ?? "") };
    }),
  };
}

/** Returns each file once, by its content where that is known, without SAM.gov's API. One without a name may have one elsewhere. */
function filesOf(evidence: readonly NamedEvidence[]) {
  const files = evidence
    .flatMap(({ sources = [] }) => sources)
    .filter(({ file, sha256 }) => file || sha256)
    .map(({ file, origin, date, sha256 }) => ({ file, origin, data_as_of: date, sha256 }))
    .toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  return [...new Map(files.map((each) => [each.sha256 ?? nameOf(each), each])).values()];
}

function nameOf({ file = "", origin, sha256 = "" }: { file?: string; origin: string; sha256?: string }): string {
  return `${file} ${origin} ${sha256}`;
}
