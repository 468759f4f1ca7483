import type { Collection } from "mongodb";
import type { EvidenceDocument } from "../documents.ts";
import { type EvidenceBodies, sha256Of } from "./bodies.ts";

/**
 * Recomputes the hash of every record's content, and reports each record whose content differs or is missing. Each body
 * is read once. Errors: the stores'.
 */
export async function verifyEvidence(options: {
  evidence: Collection<EvidenceDocument>;
  bodies: Pick<EvidenceBodies, "get">;
  /** Older records are left out. */
  since: Date | undefined;
  onFault: (evidenceId: string, fault: string) => void;
}): Promise<{ records: number; faults: number }> {
  const { evidence, bodies, since, onFault } = options;
  const found = { records: 0, faults: 0 };
  let last: { sha256: string; fault: string | undefined } | undefined;
  const records = evidence
    .find(since ? { created_at: { $gte: since } } : {})
    .sort({ sha256: 1 })
    .hint({ sha256: 1, created_at: 1 });
  for await (const record of records) {
    const { sha256, content, content_bytes } = record;
    if (content !== undefined || content_bytes === 0) {
      last = { sha256: "", fault: faultOf(Buffer.from(content ?? ""), sha256) };
    } else if (last?.sha256 !== sha256) {
      last = { sha256, fault: faultOf(await bodies.get(sha256), sha256) };
    }
    found.records++;
    if (!last?.fault) continue;
    found.faults++;
    onFault(record._id, last.fault);
  }
  return found;
}

/** Returns what is wrong with content that should have this hash; undefined where nothing is. */
function faultOf(content: Uint8Array | undefined, sha256: string): string | undefined {
  if (!content) return "the content is missing";
  return sha256Of(content) === sha256 ? undefined : "the content differs from its hash";
}
