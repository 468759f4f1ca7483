import { type IdentifierMap, type IdentifierType, maskTin } from "@vvs/identifiers";
import type { Tenant } from "@vvs/tenant";
import canonicalize from "canonicalize";
import type { EntityDocument, PublicIdentifiers } from "./documents.ts";
import type { Address } from "./facts.ts";
import { matchKeysOf } from "./match-keys.ts";
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
function placeholderName({ uei, cage, duns, tin }: IdentifierMap): string {
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

/** A new entity of an organization, before it is known what excludes it. */
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
