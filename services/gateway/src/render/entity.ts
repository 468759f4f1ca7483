import type { Address, Entity, Snapshot } from "@vvs/proto/entity/v1/entity";
import { renderTime } from "./values.ts";

/** The public Entity. `confidence` is 1 outside a fuzzy look-up. */
export function renderEntity(entity: Entity, confidence = 1) {
  return {
    id: entity.id,
    external_id: entity.externalId || undefined,
    legal_name: entity.legalName,
    identifiers: { ...entity.identifiers },
    sam_gov: {
      registration_status: entity.samGov?.registrationStatus,
      cage: entity.samGov?.cage || undefined,
      expiration_date: entity.samGov?.expirationDate || undefined,
      entity_type: entity.samGov?.entityType || undefined,
    },
    addresses: entity.addresses.map(renderAddress),
    confidence,
    sources: entity.sources.map((source) => ({
      name: source.name,
      retrieved_at: renderTime(source.retrievedAt),
      version: source.version || undefined,
    })),
  };
}

/** Values missing in the source are empty texts; only the second line is left out. */
function renderAddress({ type, line1, line2, city, state, zip, country }: Address) {
  return { type, line1, line2: line2 || undefined, city, state, zip, country };
}

/** The public Snapshot: exactly the hashed fields, and the hash. */
export function renderSnapshot(snapshot: Snapshot) {
  return {
    id: snapshot.id,
    entity_id: snapshot.entityId,
    organization_id: snapshot.organizationId || undefined,
    version: snapshot.version,
    entity: snapshot.entity,
    actor: snapshot.actor,
    request_id: snapshot.requestId || undefined,
    created_at: snapshot.createdAt,
    hash: snapshot.hash,
    previous_hash: snapshot.previousHash || undefined,
  };
}
