import { createHash } from "node:crypto";
import type { Evidence } from "@vvs/proto/verification/v1/verification";
import { isRefusal } from "../http/refusal.ts";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";

/**
 * The evidence of a result, with whether its content matches its hash. `deleted`: its time was over. `unreadable`: the
 * content is missing or altered in the store.
 */
export type CheckedEvidence =
  | { readonly kind: "found"; readonly evidence: Evidence; readonly isIntact: boolean }
  | { readonly kind: "deleted" }
  | { readonly kind: "unreadable" };

/** Returns whether the content of evidence still has the SHA-256 that was stored with it. */
export function isIntact({ content, sha256 }: Pick<Evidence, "content" | "sha256">): boolean {
  return createHash("sha256").update(content, "utf8").digest("hex") === sha256;
}

/** Reads evidence and computes its hash again. Errors: those of the verification service, if it is unavailable. */
export async function checkEvidence(
  { verification, logger }: Pick<PageContext, "verification" | "logger">,
  { caller }: Visit,
  evidenceId: string,
): Promise<CheckedEvidence> {
  try {
    const evidence = (await verification.getEvidence({ caller, evidenceId })).evidence!;
    return { kind: "found", evidence, isIntact: isIntact(evidence) };
  } catch (error) {
    if (isRefusal(error, "evidence_not_found")) return { kind: "deleted" };
    if (!isRefusal(error, "internal_error")) throw error;
    logger.error({ err: error, request_id: caller.requestId }, "evidence could not be read");
    return { kind: "unreadable" };
  }
}
