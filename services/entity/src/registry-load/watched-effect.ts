import canonicalize from "canonicalize";
import type { IsoDate } from "../model/dates.ts";
import type { UnversionedEntity } from "../model/documents.ts";
import { statusOf } from "../model/status.ts";

/** What a change means to monitors: the entity is newly excluded, no longer excluded, or differs in something else. */
export type WatchedEffect = "excluded" | "cleared" | "changed";

/**
 * Returns the effect of a change, on a registry's day, on what monitors watch: the status, the exclusions, the expiration date, the legal name,
 * the CAGE and the entity type; undefined if it has none, such as a change of an address or of the source. Facts that the
 * public view does not show count too, as `GetRegistryRecords` answers by them.
 */
export function watchedEffect(
  before: UnversionedEntity,
  after: UnversionedEntity,
  today: IsoDate,
): WatchedEffect | undefined {
  const [wasExcluded, isExcluded] = [before, after].map((entity) => statusOf(entity, today) === "debarred");
  if (wasExcluded !== isExcluded) return isExcluded ? "excluded" : "cleared";
  return watchedText(before) === watchedText(after) ? undefined : "changed";
}

function watchedText(entity: UnversionedEntity): string | undefined {
  const { legal_name, identifiers, sam, exclusions, flag_ended = false, listed } = entity;
  const { uei, cage } = identifiers;
  return canonicalize({ legal_name, uei, cage, sam, exclusions, flag_ended, listed });
}
