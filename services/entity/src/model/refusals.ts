import { type Candidate, type MatchReason, ServiceError } from "@vvs/errors";
import type { FoundEntity } from "./documents.ts";

/** So many candidates are told at most. */
export const MAX_CANDIDATES = 10;

/** The identifiers, or all criteria together, mean several entities; with the reasons of each where they are wanted. */
export function ambiguous(
  entities: readonly FoundEntity[],
  message: string,
  reasonsOf?: (entity: FoundEntity) => readonly MatchReason[],
): ServiceError {
  const candidates: Candidate[] = entities.slice(0, MAX_CANDIDATES).map((entity) => ({
    id: entity._id,
    legalName: entity.legal_name,
    confidence: 1,
    ...(reasonsOf && { explanation: reasonsOf(entity) }),
  }));
  return new ServiceError("ambiguous_match", { message, candidates });
}

export const DIFFERENT_ENTITIES = "The identifiers name different entities: see candidates.";
export const SEVERAL_ENTITIES = "Several entities match: give more to tell them apart. See candidates.";
