import { type IdentifierMap, type IdentifierType, maskTin } from "@vvs/identifiers";
import type { Tenant } from "@vvs/tenant";
import canonicalize from "canonicalize";
import type {
  Collections,
  EntityDocument,
  ExclusionPeriodDocument,
  PublicIdentifiers,
  SourceDocument,
} from "./documents.ts";
import { findExclusions, newestLoad, periodsOf } from "./exclusions.ts";
import { matchKeysOf } from "./match-keys.ts";
import { dateOf } from "./registry/dates.ts";
import type { Address } from "./registry/facts.ts";
import type { UnversionedEntity } from "./snapshots.ts";

/** What an organization says of an entity that it creates. */
export interface OwnContent {
  /** Undefined makes a placeholder of the identifiers. */
  readonly legalName: string | undefined;
  readonly identifiers: IdentifierMap;
  readonly address: Address | undefined;
}

/** What is kept of a creation's content, so that the same again is the same entity. */
export type ContentHash = Pick<EntityDocument, "content_hash" | "content_hash_key_id">;

/** One text for one content, whatever the order of its parts. */
export function contentText({ legalName, identifiers, address }: OwnContent): string {
  return canonicalize({ legalName, identifiers, address: address ?? null })!;
}

/** What keeps an own entity's identifiers unique in its organization. */
export function claimsOf(identifiers: PublicIdentifiers): string[] | undefined {
  const claims = Object.entries(identifiers).flatMap(([type, value]) => (value ? [`${type}:${value}`] : []));
  return claims.length > 0 ? claims : undefined;
}

/** The name of an entity that came without one, by the first of uei, cage, duns, tin. */
export function placeholderName({ uei, cage, duns, tin }: IdentifierMap): string {
  const [type, value] = (
    [
      ["UEI", uei],
      ["CAGE", cage],
      ["DUNS", duns],
      ["TIN", tin && maskTin(tin)],
    ] as const
  ).find(([, given]) => given)!;
  return `Unknown entity (${type} ${value})`;
}

/** The identifiers without the TIN, which is kept apart. */
export function publicIdentifiers(identifiers: IdentifierMap): PublicIdentifiers {
  const types = ["uei", "cage", "duns"] as const satisfies readonly IdentifierType[];
  return Object.fromEntries(types.flatMap((type) => (identifiers[type] ? [[type, identifiers[type]]] : [])));
}

/** Did an organization create it, and has no registry a row of it? */
export function isOwnUnregistered(entity: Pick<EntityDocument, "organization_id" | "registry_entity_id">): boolean {
  return entity.organization_id !== null && entity.registry_entity_id === undefined;
}

/** What the loaded exclusions say of identifiers: the periods, and the file as a source where there are any. */
export async function excludedBy(
  collections: Collections,
  identifiers: PublicIdentifiers,
  now: Date,
): Promise<{ periods: ExclusionPeriodDocument[]; sources: SourceDocument[] }> {
  const periods = periodsOf(await findExclusions(collections, [identifiers], dateOf(now)), identifiers);
  const load = periods.length > 0 ? await newestLoad(collections, "exclusions") : undefined;
  return { periods, sources: load ? [exclusionsSource(load.file_name, now)] : [] };
}

export function exclusionsSource(fileName: string, retrievedAt: Date): SourceDocument {
  return { name: "sam_gov_exclusions", retrieved_at: retrievedAt, version: fileName };
}

/** A new entity of an organization. */
export async function newOwnEntity(
  collections: Collections,
  tenant: Tenant,
  options: { id: string; content: OwnContent; contentHash?: ContentHash; now: Date },
): Promise<UnversionedEntity> {
  const { id, content, contentHash, now } = options;
  const identifiers = publicIdentifiers(content.identifiers);
  const excluded = await excludedBy(collections, identifiers, now);
  const named = {
    legal_name: content.legalName ?? placeholderName(content.identifiers),
    placeholder: content.legalName === undefined,
    other_names: [],
    addresses: content.address ? [content.address] : [],
  };
  return {
    _id: id,
    organization_id: tenant.organizationId,
    ...named,
    ...matchKeysOf(named),
    identifiers,
    claims: claimsOf(identifiers),
    tin_last4: content.identifiers.tin?.slice(-4),
    exclusions: excluded.periods,
    sources: [{ name: "organization", retrieved_at: now }, ...excluded.sources],
    ...contentHash,
    created_at: now,
  };
}
