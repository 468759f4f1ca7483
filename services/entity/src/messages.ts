import type { JsonObject } from "@bufbuild/protobuf";
import { type IdentifierMap, identifierTypes } from "@vvs/identifiers";
import type { Identifiers } from "@vvs/proto/common/v1/common";
import type { LookUpRequest, Address as ProtoAddress } from "@vvs/proto/entity/v1/entity";
import type { Criteria, Match } from "./lookup/lookup.ts";
import type { Address } from "./matching/addresses/address.ts";
import type { SnapshotDocument } from "./model/documents.ts";

/** Returns the identifiers of a message. */
export function identifiersOf(message: Identifiers | undefined): IdentifierMap {
  return Object.fromEntries(identifierTypes.flatMap((type) => (message?.[type] ? [[type, message[type]]] : [])));
}

export function criteriaOf(request: LookUpRequest): Criteria {
  return {
    identifiers: identifiersOf(request.identifiers),
    legalName: request.legalName,
    address: request.address,
    explain: request.explain,
  };
}

export function addressOf({ type, line1, line2, city, state, zip, country }: ProtoAddress): Address {
  const isMailing = type === "mailing";
  return { type: isMailing ? "mailing" : "physical", line1, ...(line2 && { line2 }), city, state, zip, country };
}

export function toProtoCandidate({ entity, confidence, explanation }: Match, explain: boolean) {
  return {
    id: entity._id,
    legalName: entity.legal_name,
    confidence,
    explanation: explain ? [...explanation] : [],
  };
}

export function toProtoSnapshot(snapshot: SnapshotDocument) {
  return {
    id: snapshot._id,
    entityId: snapshot.entity_id,
    organizationId: snapshot.organization_id,
    version: snapshot.version,
    entity: snapshot.entity as unknown as JsonObject,
    actor: snapshot.actor,
    requestId: snapshot.request_id,
    createdAt: snapshot.created_at.toISOString(),
    hash: snapshot.hash,
    previousHash: snapshot.previous_hash,
  };
}
