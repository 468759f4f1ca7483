import { ServiceError } from "@vvs/errors";
import type { Reason } from "../matching/explanation.ts";
import type { FoundEntity } from "./documents.ts";

/** Maximum number of candidates returned. */
export const MAX_CANDIDATES = 10;

/** Returns the refusal for criteria that mean several entities, with the reasons for each if `reasonsOf` is given. */
export function ambiguous(
  entities: readonly FoundEntity[],
  message: string,
  reasonsOf?: (entity: FoundEntity) => Reason[],
): ServiceError {
  const candidates = entities.slice(0, MAX_CANDIDATES).map((entity) => ({
    id: entity._id,
    legalName: entity.legal_name,
    confidence: 1,
    explanation: reasonsOf?.(entity),
  }));
  return new ServiceError("ambiguous_match", { message, candidates });
}

export const DIFFERENT_ENTITIES =
  "The identifiers name different entities. Send those of one entity, or choose one of the candidates.";
export const SEVERAL_ENTITIES =
  "More than one entity matches. Add an identifier, name or address, or choose one of the candidates.";
