import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { maskTin } from "@vvs/identifiers";
import type { IsoDate } from "./dates.ts";
import type { FoundEntity, PublicEntity, RememberedDocument } from "./documents.ts";
import { statusOf } from "./status.ts";

/**
 * Returns an entity as the public API shows it on a registry's day, with TINs masked. An organization's own view also shows the
 * identifiers that it supplied and the entity does not carry; a snapshot is made without them.
 */
export function publicView(
  entity: Omit<FoundEntity, "version" | "last_hash" | "changed_at">,
  today: IsoDate,
  remembered: readonly RememberedDocument[] = [],
): PublicEntity {
  const { cage, expiration_date, entity_type } = entity.sam ?? {};
  return {
    id: entity._id,
    legal_name: entity.legal_name,
    identifiers: visibleIdentifiers(entity, remembered),
    sam_gov: {
      registration_status: statusOf(entity, today),
      ...(cage && { cage }),
      ...(expiration_date && { expiration_date }),
      ...(entity_type && { entity_type }),
    },
    addresses: entity.addresses,
    confidence: 1,
    sources: entity.sources.map(({ name, retrieved_at, version }) => ({
      name,
      retrieved_at: retrieved_at.toISOString(),
      ...(version && { version }),
    })),
  };
}

/**
 * Returns a public view as a message. `externalId` is the organization's own number of the entity, which is not part of the
 * view, so that no snapshot has it.
 */
export function toProtoEntity(view: PublicEntity, createdAt: Date, externalId: string | undefined) {
  const { sam_gov } = view;
  return {
    id: view.id,
    legalName: view.legal_name,
    identifiers: { ...view.identifiers },
    samGov: {
      registrationStatus: sam_gov.registration_status,
      cage: sam_gov.cage,
      expirationDate: sam_gov.expiration_date,
      entityType: sam_gov.entity_type,
    },
    addresses: view.addresses.map((address) => ({ ...address })),
    sources: view.sources.map(({ name, retrieved_at, version }) => ({
      name,
      retrievedAt: timestampFromDate(new Date(retrieved_at)),
      version,
    })),
    createdAt: timestampFromDate(createdAt),
    externalId,
  };
}

function visibleIdentifiers(
  entity: Pick<FoundEntity, "identifiers" | "tin_last4">,
  remembered: readonly RememberedDocument[],
): Record<string, string> {
  const shown: Record<string, string> = {};
  const add = (type: string, value: string | undefined) => {
    if (value !== undefined && shown[type] === undefined) shown[type] = value;
  };
  for (const type of ["uei", "cage", "duns"] as const) add(type, entity.identifiers[type]);
  add("tin", entity.tin_last4 && maskTin(entity.tin_last4));
  for (const { type, value, last4 } of remembered) add(type, type === "tin" ? last4 && maskTin(last4) : value);
  return shown;
}
