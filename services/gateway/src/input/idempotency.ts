import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SecretKey } from "@vvs/config";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import { keyedHashes } from "@vvs/sealing";
import canonicalize from "canonicalize";

export type Idempotency = MessageInitShape<typeof IdempotencySchema>;

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** May this be an Idempotency-Key? */
export function isIdempotencyKey(text: string): boolean {
  return PRINTABLE.test(text);
}

/**
 * What the service that owns the effect keeps of an Idempotency-Key and the body it came with: keyed hashes, since either
 * can hold a TIN. Bodies that differ in spacing or order of keys are the same (RFC 8785).
 */
export function idempotencyOf(
  secret: SecretKey,
  call: { apiKeyId: string; path: string; key: string; body: unknown },
): Idempotency {
  const keyed = (text: string) => keyedHashes([secret], text)[0]!.hash;
  return {
    apiKeyId: call.apiKeyId,
    path: call.path,
    key: keyed(`key:${call.key}`).toString("base64url"),
    bodyHash: keyed(`body:${canonicalize(call.body)}`),
  };
}
