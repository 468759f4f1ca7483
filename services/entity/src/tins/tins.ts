import type { SecretKey } from "@vvs/config";
import { keyedHashes, open, type Place, type Sealed, seal } from "@vvs/sealing";
import type { Tenant } from "@vvs/tenant";
import { Binary } from "mongodb";
import type { TinDocument } from "../model/documents.ts";
import { type FingerprintKeys, fingerprintOf } from "./tin-fingerprints.ts";

/** The collection that stores a TIN, and the id of its document. */
export interface TinHome {
  readonly collection: "entity_identifiers" | "remembered_identifiers" | "job_rows";
  /** For TINs of a job that verification stores: the job's id. */
  readonly id: string;
}

/** Seals, opens and hashes TINs; only the vault has their keys. */
export type TinVault = ReturnType<typeof createTinVault>;

/** `sealingKeys` seal and `hashKeys` hash, each with its newest key; older ones are still read. */
export function createTinVault(options: {
  sealingKeys: readonly SecretKey[];
  hashKeys: readonly SecretKey[];
  fingerprintKeys: FingerprintKeys;
}) {
  const { sealingKeys, hashKeys, fingerprintKeys } = options;
  const newest = { sealingKeyId: sealingKeys[0]!.id, hashKeyId: hashKeys[0]!.id };
  // The hash includes the organization, so that the database does not show that two organizations have the same TIN.
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
  const sealBox = (tenant: Tenant, home: TinHome, tin: string) => seal(sealingKeys, placeOf(tenant, home), tin);
  const sealed = (tenant: Tenant, home: TinHome, tin: string) => {
    const { key_id, box } = sealBox(tenant, home, tin);
    return {
      sealed: { key_id, box: new Binary(box) },
      hash: hash(tenant, "tin", tin)[0]!,
      hash_key_id: newest.hashKeyId,
      last4: tin.slice(-4),
    };
  };
  const fingerprint = async (tenant: Tenant, tin: string) => fingerprintOf(await fingerprintKeys.of(tenant), tin);
  const openTin = (tenant: Tenant, home: TinHome, { key_id, box }: TinDocument["sealed"]) =>
    open(sealingKeys, placeOf(tenant, home), { key_id, box: box.value() });
  return {
    /** The ids of the newest keys; a rotation renews what other keys sealed or hashed. */
    newest,
    /** Returns the hashes under which a TIN of this organization may be stored: one per key, the newest first. */
    hashes: (tenant: Tenant, tin: string): Binary[] => hash(tenant, "tin", tin),
    /** Returns keyed hashes of other content that may contain a TIN, the newest key's first. */
    contentHashes: (tenant: Tenant, content: string): Binary[] => hash(tenant, "content", content),
    /** Returns the fingerprint of a TIN of this organization, which stays when keys rotate. */
    fingerprint,
    /** Returns TINs of a job, sealed. */
    sealForJob: (tenant: Tenant, jobId: string, tins: readonly string[]) =>
      tins.map((tin) => sealBox(tenant, { collection: "job_rows", id: jobId }, tin)),
    /** Returns sealed TINs of a job in clear; empty for one of another job, or whose key is no longer there. */
    openForJob(tenant: Tenant, jobId: string, sealedTins: readonly Sealed[]): string[] {
      const place = placeOf(tenant, { collection: "job_rows", id: jobId });
      return sealedTins.map((one) => {
        try {
          return open(sealingKeys, place, one);
        } catch {
          return "";
        }
      });
    },
    /** Returns a TIN in its stored form. */
    seal: async (tenant: Tenant, home: TinHome, tin: string): Promise<TinDocument> => ({
      ...sealed(tenant, home, tin),
      fingerprint: await fingerprint(tenant, tin),
    }),
    /** Returns a TIN in clear. Errors: an unknown key, a box that belongs to another place. */
    open: openTin,
    /** Returns the same TIN, sealed and hashed by the newest keys; its fingerprint stays. Errors: as `open`. */
    renew: (tenant: Tenant, home: TinHome, stored: Pick<TinDocument, "sealed" | "fingerprint">): TinDocument => ({
      ...sealed(tenant, home, openTin(tenant, home, stored.sealed)),
      fingerprint: stored.fingerprint,
    }),
  };
}

/** Returns whether two hashes or fingerprints are equal. */
export function isSameBinary(one: Binary, other: Binary): boolean {
  return Buffer.from(one.value()).equals(other.value());
}
