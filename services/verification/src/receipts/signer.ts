import { createPrivateKey, createPublicKey } from "node:crypto";
import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { type JWTPayload, SignJWT } from "jose";

/** What stands before the 32 bytes of an Ed25519 key in its PKCS #8 form (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const RECEIPT = { alg: "EdDSA", typ: "verification-receipt+jwt" } as const;

export type ReceiptSigner = ReturnType<typeof createReceiptSigner>;

/** Creates what signs receipts. The first key of the ring signs; all are published. */
export function createReceiptSigner(ring: readonly SecretKey[]) {
  const keys = ring.map(({ id, key }) => {
    const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, key]), format: "der", type: "pkcs8" });
    const { kty, crv, x } = createPublicKey(privateKey).export({ format: "jwk" });
    return { privateKey, jwk: { kty, crv, x, kid: id, use: "sig", alg: RECEIPT.alg } };
  });
  const [newest] = keys;
  return {
    /** The JSON Web Key Set with the public keys, as JSON. */
    jwks: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }),
    /** Returns a compact JWS; the same claims give the same text. Errors: not_found without a key. */
    async sign(claims: JWTPayload): Promise<string> {
      if (!newest) {
        const message = "This service signs no receipts. Its operator can configure keys for them.";
        throw new ServiceError("not_found", { message });
      }
      return new SignJWT(claims).setProtectedHeader({ ...RECEIPT, kid: newest.jwk.kid }).sign(newest.privateKey);
    },
  };
}
