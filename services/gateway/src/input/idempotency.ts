import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SecretKey } from "@vvs/config";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import { keyedHashes } from "@vvs/sealing";
import canonicalize from "canonicalize";

export type Idempotency = MessageInitShape<typeof IdempotencySchema>;

/**
 * Returns the keyed hashes of an Idempotency-Key and its body under every key of the ring. The service that executes the
 * call stores only these, because key and body can contain a TIN. Bodies that differ only in spacing or in the order of
 * keys are equal (RFC 8785).
 */
export function idempotencyOf(
  ring: readonly SecretKey[],
  call: { apiKeyId: string; path: string; key: string; body: unknown },
): Idempotency {
  const bodyHashes = keyedHashes(ring, `body:${canonicalize(call.body)}`);
  const [newest, ...older] = keyedHashes(ring, `key:${call.key}`).map(({ hash }, at) => ({
    key: hash.toString("base64url"),
    bodyHash: bodyHashes[at]!.hash,
  }));
  return { apiKeyId: call.apiKeyId, path: call.path, ...newest, older };
}
