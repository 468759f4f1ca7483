import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import type { Collections, EntityDocument, SamFacts, SourceDocument } from "../model/documents.ts";
import { asReadBefore, replaceEntity, StaleEntityError, untilUndisturbed } from "../model/entity-writes.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { isOwnUnregistered } from "../model/own-entity.ts";
import type { UnversionedEntity } from "../model/snapshots.ts";
import { statusOf } from "../model/view.ts";
import type { EntityStore } from "../store.ts";

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
 * Takes a provider's newer facts into an entity that the organization itself created, with a snapshot; where they are
 * equal, only the date of their source changes, without one. Says whether any fact changed: none does for an entity of
 * the registry, nor by an answer older than one taken before, nor in the sandbox. Errors: entity_not_found.
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
      if (!isNewer(previous, facts)) return false;
      const entity = withFacts(previous, facts);
      const collections = options.collections[tenant.environment];
      if (!entity) {
        await confirmSource(collections, previous, facts);
        return false;
      }
      await inTransaction(client, (session) =>
        replaceEntity(collections, session, { previous, entity, author: caller, now: now() }),
      );
      return true;
    });
}

function isNewer({ sources }: EntityDocument, { retrievedAt }: ProviderFacts): boolean {
  const taken = sources.filter(({ name }) => name !== "organization" && name !== "sam_gov_exclusions");
  return taken.every(({ retrieved_at }) => retrieved_at < retrievedAt);
}

/** Keeps the date of equal facts, so that an answer between them and those stored changes nothing when it comes late. */
async function confirmSource({ entities }: Collections, previous: EntityDocument, facts: ProviderFacts): Promise<void> {
  const confirmed = { sources: sourcesWith(previous, facts), revision: (previous.revision ?? 0) + 1 };
  const written = await entities.updateOne(asReadBefore(previous), { $set: confirmed });
  if (written.matchedCount === 0) throw new StaleEntityError("the entity changed meanwhile");
}

function sourcesWith({ sources }: EntityDocument, { provider, retrievedAt }: ProviderFacts): SourceDocument[] {
  return [...sources.filter(({ name }) => name !== provider), { name: provider, retrieved_at: retrievedAt }];
}

/** The entity with a provider's facts, or undefined where they say nothing else than it does. */
export function withFacts(previous: EntityDocument, facts: ProviderFacts): UnversionedEntity | undefined {
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
  return {
    ...previous,
    ...named,
    ...matchKeysOf(named),
    sam,
    sources: sourcesWith(previous, facts),
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
