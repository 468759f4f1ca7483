import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { maskTin } from "@vvs/identifiers";
import { dateOf } from "./dates.ts";
import type { EntityDocument, FoundEntity, PublicEntity, RememberedDocument } from "./documents.ts";
import type { RegistrationStatus } from "./facts.ts";
import { registrationStatus } from "./status.ts";

const UNREGISTERED = { samRegistered: false, listedAs: "inactive", excluded: false } as const;

/** The registration status of an entity at that time: facts stay, their meaning changes as days pass. */
export function statusOf(entity: Pick<EntityDocument, "sam" | "exclusions">, now: Date): RegistrationStatus {
  const { sam } = entity;
  const facts = sam
    ? {
        samRegistered: sam.sam_registered,
        listedAs: sam.listed_as,
        expirationDate: sam.expiration_date,
        excluded: sam.excluded,
      }
    : UNREGISTERED;
  const periods = entity.exclusions.map(({ active_date, termination_date }) => ({
    activeDate: active_date,
    terminationDate: termination_date,
  }));
  return registrationStatus(facts, periods, dateOf(now));
}

/**
 * An entity as the public API shows it at that time. What an organization remembers is laid over what the entity
 * carries in that organization's own view; a snapshot is made without it. A TIN is masked.
 */
export function publicView(
  entity: Omit<FoundEntity, "version" | "last_hash" | "changed_at">,
  now: Date,
  remembered: readonly RememberedDocument[] = [],
): PublicEntity {
  const { sam } = entity;
  const cage = sam?.cage;
  return {
    id: entity._id,
    legal_name: entity.legal_name,
    identifiers: visibleIdentifiers(entity, remembered),
    sam_gov: {
      registration_status: statusOf(entity, now),
      ...(cage && { cage }),
      ...(sam?.expiration_date && { expiration_date: sam.expiration_date }),
      ...(sam?.entity_type && { entity_type: sam.entity_type }),
    },
    addresses: entity.addresses.map(({ type, line1, line2, city, state, zip, country }) => ({
      type,
      line1,
      ...(line2 && { line2 }),
      city,
      state,
      zip,
      country,
    })),
    confidence: 1,
    sources: entity.sources.map(({ name, retrieved_at, version }) => ({
      name,
      retrieved_at: retrieved_at.toISOString(),
      ...(version && { version }),
    })),
  };
}

/** The same view as a message. */
export function toProtoEntity(view: PublicEntity, createdAt: Date) {
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
  };
}

function visibleIdentifiers(
  entity: Pick<EntityDocument, "identifiers" | "tin_last4">,
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
