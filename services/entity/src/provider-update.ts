import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import type { Collections, EntityDocument, SamFacts } from "./documents.ts";
import { replaceEntity, untilUndisturbed } from "./entity-writes.ts";
import { matchKeysOf } from "./match-keys.ts";
import { isOwnUnregistered } from "./own-entity.ts";
import type { UnversionedEntity } from "./snapshots.ts";
import type { EntityStore } from "./store.ts";
import { statusOf } from "./view.ts";

/** What a provider answered; "" where it did not say. */
export interface ProviderFacts {
  readonly provider: string;
  readonly retrievedAt: Date;
  readonly registrationStatus: string;
  readonly legalName: string;
  readonly cage: string;
  readonly expirationDate: string;
  readonly entityType: string;
}

/**
 * Takes a provider's newer facts into an entity that the organization itself created, with a snapshot. Says whether
 * anything changed: nothing does for an entity of the registry, nor by an answer older than one taken before, nor in
 * the sandbox. Errors: entity_not_found.
 */
export function createProviderUpdate(options: {
  client: MongoClient;
  collections: Readonly<Record<Environment, Collections>>;
  store: EntityStore;
  now: () => Date;
}) {
  const { client, store, now } = options;
  return (caller: CallerContext, entityId: string, facts: ProviderFacts): Promise<boolean> =>
    untilUndisturbed(async () => {
      const { tenant } = caller;
      const [previous] = await store.findVisible(tenant, [entityId]);
      if (!previous) throw new ServiceError("entity_not_found");
      if (tenant.environment === "sandbox" || !isOwnUnregistered(previous)) return false;
      const entity = withFacts(previous, facts);
      if (!entity) return false;
      const collections = options.collections[tenant.environment];
      await inTransaction(client, (session) =>
        replaceEntity(collections, session, { previous, entity, author: caller, now: now() }),
      );
      return true;
    });
}

/** The entity with a provider's facts, or undefined where they are not newer or say nothing else than it does. */
export function withFacts(previous: EntityDocument, facts: ProviderFacts): UnversionedEntity | undefined {
  const taken = previous.sources.filter(({ name }) => name !== "organization" && name !== "sam_gov_exclusions");
  if (taken.some(({ retrieved_at }) => retrieved_at >= facts.retrievedAt)) return undefined;
  if (saysOnlyWhatIsShown(previous, facts)) return undefined;
  const sam = samFactsOf(previous.sam, facts);
  const legalName = facts.legalName || previous.legal_name;
  const isSame = legalName === previous.legal_name && JSON.stringify(sam) === JSON.stringify(sortedFacts(previous.sam));
  if (isSame) return undefined;
  const otherNames = new Set(previous.other_names);
  if (legalName !== previous.legal_name && !previous.placeholder) otherNames.add(previous.legal_name);
  const named = {
    legal_name: legalName,
    placeholder: previous.placeholder && facts.legalName === "",
    other_names: [...otherNames],
    addresses: previous.addresses,
  };
  const others = previous.sources.filter(({ name }) => name !== facts.provider);
  return {
    ...previous,
    ...named,
    ...matchKeysOf(named),
    sam,
    sources: [...others, { name: facts.provider, retrieved_at: facts.retrievedAt }],
  };
}

/**
 * A status alone that the entity has already, such as `debarred` by a loaded exclusion: taken over it would outlive the
 * exclusion.
 */
function saysOnlyWhatIsShown(previous: EntityDocument, facts: ProviderFacts): boolean {
  const hasMore = [facts.legalName, facts.cage, facts.expirationDate, facts.entityType].some((fact) => fact !== "");
  return !hasMore && facts.registrationStatus === statusOf(previous, facts.retrievedAt);
}

function samFactsOf(before: SamFacts | undefined, facts: ProviderFacts): SamFacts {
  const status = facts.registrationStatus;
  const known = status !== "";
  const listedAs = status === "expired" || status === "inactive" ? status : "active";
  return sortedFacts({
    sam_registered: known || (before?.sam_registered ?? false),
    listed_as: known ? listedAs : (before?.listed_as ?? "inactive"),
    expiration_date: facts.expirationDate || before?.expiration_date,
    excluded: known ? status === "debarred" : (before?.excluded ?? false),
    cage: facts.cage || before?.cage,
    entity_type: facts.entityType || before?.entity_type,
  })!;
}

/** The facts in one order and without what is unknown, so that equal ones have equal text. */
function sortedFacts(facts: SamFacts | undefined): SamFacts | undefined {
  return (
    facts && {
      sam_registered: facts.sam_registered,
      listed_as: facts.listed_as,
      ...(facts.expiration_date && { expiration_date: facts.expiration_date }),
      excluded: facts.excluded,
      ...(facts.cage && { cage: facts.cage }),
      ...(facts.entity_type && { entity_type: facts.entity_type }),
    }
  );
}
