import type { IdentifierMap } from "@vvs/identifiers";
import { placeholderName } from "@vvs/identifiers/placeholder-name";
import type { Tenant } from "@vvs/tenant";
import canonicalize from "canonicalize";
import type { Address } from "../matching/addresses/address.ts";
import type { EntityDocument, PublicIdentifiers, UnversionedEntity } from "./documents.ts";
import { matchKeysOf } from "./match-keys.ts";

/** What an organization supplies to create an entity. */
export interface OwnContent {
  /** Where undefined, the entity gets a placeholder made of its identifiers. */
  readonly legalName: string | undefined;
  readonly identifiers: IdentifierMap;
  readonly address: Address | undefined;
}

/** The stored hash of a creation's content, by which a repeated creation finds the entity. */
export type ContentHash = Pick<EntityDocument, "content_hash" | "content_hash_key_id">;

/** Returns the same text for the same content, whatever the order of its parts. */
export function contentText({ legalName, identifiers, address }: OwnContent): string {
  return canonicalize({ legalName, identifiers, address: address ?? null })!;
}

/** Returns the claims that keep an own entity's identifiers unique in its organization. */
export function claimsOf(identifiers: PublicIdentifiers): string[] | undefined {
  const claims = Object.entries(identifiers).flatMap(([type, value]) => (value ? [`${type}:${value}`] : []));
  return claims.length > 0 ? claims : undefined;
}

/** Returns the identifiers without the TIN, which is stored apart from them. */
export function publicIdentifiers({ uei, cage, duns }: IdentifierMap): PublicIdentifiers {
  return { ...(uei && { uei }), ...(cage && { cage }), ...(duns && { duns }) };
}

/** Returns whether an organization created the entity and no registry has a row for it. */
export function isOwnUnregistered(entity: Pick<EntityDocument, "organization_id" | "registry_entity_id">): boolean {
  return entity.organization_id !== null && entity.registry_entity_id === undefined;
}

/** Returns a new entity of an organization, without its exclusions. */
export function newOwnEntity(
  tenant: Tenant,
  options: { id: string; content: OwnContent; contentHash?: ContentHash; now: Date },
): UnversionedEntity {
  const { id, content, contentHash, now } = options;
  const identifiers = publicIdentifiers(content.identifiers);
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
    exclusions: [],
    sources: [{ name: "organization", retrieved_at: now }],
    ...contentHash,
    created_at: now,
  };
}
