import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from "jose";
import type { Evidence, Job, JobResult, ReceiptKeys, Verification } from "./types.ts";

/** What a receipt proves. Fields that are newer than this client are there too. */
export interface Receipt {
  /** Address of the service that signed it. */
  readonly iss: string;
  /** Id of the verification. */
  readonly sub: string;
  /** When the verification was created, in Unix seconds. */
  readonly iat: number;
  /** `live`, or `sandbox`: then it proves nothing about a real vendor. */
  readonly environment: string;
  /** As GET returns it. */
  readonly verification: Verification;
  /** What the results rest on, in their order. Evidence that was no longer kept when the receipt was made is absent. */
  readonly evidence: readonly Pick<Evidence, "id" | "check_type" | "sha256" | "sources">[];
}

/** What the receipt of a job proves. */
export interface JobReceipt extends Pick<Receipt, "iss" | "sub" | "iat" | "environment"> {
  readonly job: Omit<Job, "done" | "results_updated_at">;
  /** The files that the results rest on. */
  readonly files: readonly Omit<Evidence["sources"][number], "part">[];
  /** The rows that had an outcome, each with the SHA-256 of its evidence that was still kept. */
  readonly results: readonly (Pick<JobResult, "row" | "outcome" | "decision" | "entity_id"> & {
    readonly verification_id?: string;
    readonly evidence?: readonly string[];
  })[];
}

/** The text proves nothing. */
export class ReceiptError extends Error {
  /** What is wrong: it is no receipt, it names none of the keys, or its signature does not fit the key that it names. */
  readonly reason: "form" | "key" | "signature";

  constructor(reason: ReceiptError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ReceiptError";
    this.reason = reason;
  }
}

/**
 * Returns what a receipt says, if it was signed with one of these keys and not altered. Needs no connection. Take the keys from
 * the service, never from the sender of the receipt. Errors: ReceiptError; TypeError for unusable keys.
 */
export async function checkReceipt<R extends Receipt | JobReceipt = Receipt>(
  text: string,
  keys: ReceiptKeys,
): Promise<R> {
  const keyOf = readKeys(keys);
  try {
    const rules = { algorithms: ["EdDSA"], typ: "verification-receipt+jwt" };
    return (await jwtVerify<R>(text.trim(), keyOf, rules)).payload;
  } catch (cause) {
    throw errorOf(cause);
  }
}

function readKeys(keys: ReceiptKeys) {
  try {
    return createLocalJWKSet(keys as JSONWebKeySet);
  } catch (cause) {
    throw new TypeError("keys must be a JSON Web Key Set, as getReceiptKeys returns it", { cause });
  }
}

function errorOf(cause: unknown): ReceiptError {
  if (cause instanceof errors.JWSSignatureVerificationFailed) {
    const message = "The receipt was altered, or was not signed by the service: its signature is wrong.";
    return new ReceiptError("signature", message, { cause });
  }
  if (cause instanceof errors.JWKSNoMatchingKey) {
    return new ReceiptError("key", "The receipt was signed with a key that is not among these keys.", { cause });
  }
  return new ReceiptError("form", "This is not a receipt of the service.", { cause });
}
