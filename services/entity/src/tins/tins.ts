import type { SecretKey } from "@vvs/config";
import { keyedHashes, open, type Place, seal } from "@vvs/sealing";
import type { Tenant } from "@vvs/tenant";
import { Binary } from "mongodb";
import type { TinDocument } from "../model/documents.ts";
import { type FingerprintKeys, fingerprintOf } from "./tin-fingerprints.ts";

/** Where a TIN is kept, and under which id. */
export interface TinHome {
  readonly collection: "entity_identifiers" | "remembered_identifiers";
  readonly id: string;
}

/** Seals, opens and hashes TINs; alone holds their keys. */
export interface TinVault {
  /** The newest keys: what is stored by others awaits a rotation. */
  readonly newest: { readonly sealingKeyId: string; readonly hashKeyId: string };
  /** The hashes under which a TIN of this organization may be stored: one a key, the newest first. */
  hashes(tenant: Tenant, tin: string): Binary[];
  /** Stands for a TIN of this organization, whatever keys seal and hash it. */
  fingerprint(tenant: Tenant, tin: string): Promise<Binary>;
  /** What is stored of a TIN. */
  seal(tenant: Tenant, home: TinHome, tin: string): Promise<TinDocument>;
  /** The TIN in clear. Errors: an unknown key, a box that belongs elsewhere. */
  open(tenant: Tenant, home: TinHome, sealed: TinDocument["sealed"]): string;
  /** The same TIN by the newest keys; its fingerprint stays. Errors: as `open`. */
  renew(tenant: Tenant, home: TinHome, stored: TinDocument): TinDocument;
  /** Keyed hashes of other content that may hold a TIN, the newest key's first. */
  contentHashes(tenant: Tenant, content: string): Binary[];
}

/** `sealingKeys` seal and `hashKeys` hash, each with its newest key; older ones are still read. */
export function createTinVault(options: {
  sealingKeys: readonly SecretKey[];
  hashKeys: readonly SecretKey[];
  fingerprintKeys: FingerprintKeys;
}): TinVault {
  const { sealingKeys, hashKeys, fingerprintKeys } = options;
  const newest = { sealingKeyId: sealingKeys[0]!.id, hashKeyId: hashKeys[0]!.id };
  // The organization is hashed along, so that equal TINs of two organizations can't be told from the database.
  const hash = (tenant: Tenant, kind: string, text: string) =>
    keyedHashes(hashKeys, JSON.stringify([kind, tenant.environment, tenant.organizationId, text])).map(
      (keyed) => new Binary(keyed.hash),
    );
  const placeOf = ({ organizationId, environment }: Tenant, { collection, id }: TinHome): Place => [
    organizationId,
    environment,
    collection,
    id,
    "tin",
  ];
  const sealed = (tenant: Tenant, home: TinHome, tin: string) => {
    const { key_id, box } = seal(sealingKeys, placeOf(tenant, home), tin);
    return {
      sealed: { key_id, box: new Binary(box) },
      hash: hash(tenant, "tin", tin)[0]!,
      hash_key_id: newest.hashKeyId,
      last4: tin.slice(-4),
    };
  };
  const fingerprint = async (tenant: Tenant, tin: string) => fingerprintOf(await fingerprintKeys.of(tenant), tin);
  const openTin: TinVault["open"] = (tenant, home, { key_id, box }) =>
    open(sealingKeys, placeOf(tenant, home), { key_id, box: box.value() });
  return {
    newest,
    hashes: (tenant, tin) => hash(tenant, "tin", tin),
    contentHashes: (tenant, content) => hash(tenant, "content", content),
    fingerprint,
    seal: async (tenant, home, tin) => ({
      ...sealed(tenant, home, tin),
      fingerprint: await fingerprint(tenant, tin),
    }),
    open: openTin,
    renew: (tenant, home, stored) => ({
      ...sealed(tenant, home, openTin(tenant, home, stored.sealed)),
      fingerprint: storedFingerprint(stored),
    }),
  };
}

/** What stands for a stored TIN: its first hash, where it was stored before TINs had fingerprints. */
export function storedFingerprint({ fingerprint, hash }: Pick<TinDocument, "fingerprint" | "hash">): Binary {
  return fingerprint ?? hash;
}
