import { randomBytes } from "node:crypto";
import { createBatcher } from "@vvs/batching";
import type { SecretKey } from "@vvs/config";
import { isDuplicateKey } from "@vvs/mongo";
import { keyedHashes, open, type Place, seal } from "@vvs/sealing";
import { type Environment, perEnvironment, type Tenant } from "@vvs/tenant";
import { Binary } from "mongodb";
import type { Collections, FingerprintKeyDocument } from "../model/documents.ts";

/** Maximum number of calls that share a read. */
const MAX_TOGETHER = 32;

/** The keys for the fingerprints of TINs, one per organization and environment. */
export type FingerprintKeys = ReturnType<typeof createFingerprintKeys>;

/**
 * Returns the fingerprint of a TIN, by which it is compared over time: in the inputs of stored answers and of monitors'
 * baselines. Equal TINs of an organization have equal fingerprints, whatever keys seal and hash them.
 */
export function fingerprintOf(key: Buffer, tin: string): Binary {
  return new Binary(keyedHashes([{ id: "", key }], tin)[0]!.hash);
}

/** Stores one random key per organization and environment, sealed by the newest of `sealingKeys`. */
export function createFingerprintKeys(options: {
  collections: Readonly<Record<Environment, Pick<Collections, "fingerprintKeys">>>;
  sealingKeys: readonly SecretKey[];
}) {
  const { sealingKeys } = options;
  const reads = perEnvironment((environment) =>
    createBatcher<string, FingerprintKeyDocument | undefined>({
      async run(ids) {
        const { fingerprintKeys } = options.collections[environment];
        const found = await fingerprintKeys.find({ _id: { $in: [...new Set(ids)] } }).toArray();
        return ids.map((id) => found.find(({ _id }) => _id === id));
      },
      maxSize: MAX_TOGETHER,
      atOnce: 1,
    }),
  );
  return {
    /** Returns the organization's key, which is created for its first TIN and never changes. Errors: an unknown key sealed it. */
    async of(tenant: Tenant): Promise<Buffer> {
      const { fingerprintKeys } = options.collections[tenant.environment];
      const mine = { _id: tenant.organizationId };
      const found = await reads[tenant.environment](mine._id);
      if (found) return openKey(sealingKeys, tenant, found.sealed);
      const key = randomBytes(32);
      try {
        await fingerprintKeys.insertOne({ ...mine, sealed: sealKey(sealingKeys, tenant, key) });
        return key;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return openKey(sealingKeys, tenant, (await fingerprintKeys.findOne(mine))!.sealed);
      }
    },
  };
}

/** Returns a key in its stored form, sealed by the newest key of the ring. */
export function sealKey(ring: readonly SecretKey[], tenant: Tenant, key: Buffer): FingerprintKeyDocument["sealed"] {
  const { key_id, box } = seal(ring, placeOf(tenant), key.toString("base64"));
  return { key_id, box: new Binary(box) };
}

/** Errors: a key that the ring does not have, a box that belongs to another place. */
export function openKey(
  ring: readonly SecretKey[],
  tenant: Tenant,
  { key_id, box }: FingerprintKeyDocument["sealed"],
): Buffer {
  return Buffer.from(open(ring, placeOf(tenant), { key_id, box: box.value() }), "base64");
}

function placeOf({ organizationId, environment }: Tenant): Place {
  return [organizationId, environment, "tin_fingerprint_keys", organizationId, "key"];
}
