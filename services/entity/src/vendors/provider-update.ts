import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { UpdateFromProviderRequest } from "@vvs/proto/entity/v1/entity";
import { registryDay } from "@vvs/registration";
import type { CallerContext } from "@vvs/tenant";
import type { Collections, EntityDocument, SourceDocument, UnversionedEntity } from "../model/documents.ts";
import { asReadBefore, replaceEntity, StaleEntityError, untilUndisturbed } from "../model/entity-writes.ts";
import type { SamFacts } from "../model/facts.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { isOwnUnregistered } from "../model/own-entity.ts";
import { statusOf } from "../model/status.ts";
import type { CreationOptions } from "./create.ts";

type Fact = "provider" | "registrationStatus" | "legalName" | "cage" | "expirationDate" | "entityType";

/** A provider's answer; "" where it has no such fact. */
export interface ProviderFacts extends Pick<UpdateFromProviderRequest, Fact> {
  readonly retrievedAt: Date;
}

/**
 * Returns a function that writes a provider's newer facts to an entity that the organization itself created, with a
 * snapshot; if the facts are equal, it only writes the date of their source, without one. It returns whether a fact
 * changed: never for a registry entity, for an answer older than an earlier one, or in the sandbox. Errors:
 * entity_not_found.
 */
export function createProviderUpdate(options: Pick<CreationOptions, "client" | "collections" | "store" | "now">) {
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

/** Stores the date of equal facts, so that a late answer that is older than them changes nothing. */
async function confirmSource({ entities }: Collections, previous: EntityDocument, facts: ProviderFacts): Promise<void> {
  const confirmed = { sources: sourcesWith(previous, facts), revision: (previous.revision ?? 0) + 1 };
  const written = await entities.updateOne(asReadBefore(previous), { $set: confirmed });
  if (written.matchedCount === 0) throw new StaleEntityError("an entity changed after it was read");
}

function sourcesWith({ sources }: EntityDocument, { provider, retrievedAt }: ProviderFacts): SourceDocument[] {
  return [...sources.filter(({ name }) => name !== provider), { name: provider, retrieved_at: retrievedAt }];
}

/** Returns the entity with a provider's facts, or undefined if they are the same. */
export function withFacts(previous: EntityDocument, facts: ProviderFacts): UnversionedEntity | undefined {
  if (isShownStatus(previous, facts)) return undefined;
  const sam = samFactsOf(previous.sam, facts);
  const legalName = facts.legalName || previous.legal_name;
  if (legalName === previous.legal_name && isDeepStrictEqual(sam, previous.sam)) return undefined;
  const otherNames = new Set(previous.other_names);
  if (legalName !== previous.legal_name && !previous.placeholder) otherNames.add(previous.legal_name);
  const named = {
    legal_name: legalName,
    placeholder: previous.placeholder && facts.legalName === "",
    other_names: [...otherNames],
    addresses: previous.addresses,
  };
  return { ...previous, ...named, ...matchKeysOf(named), sam, sources: sourcesWith(previous, facts) };
}

/**
 * Returns whether the facts are nothing but the status that the entity has already. A status such as `debarred` by a
 * loaded exclusion is not stored again as the provider's: there it would outlive the exclusion.
 */
function isShownStatus(previous: EntityDocument, facts: ProviderFacts): boolean {
  const hasMore = [facts.legalName, facts.cage, facts.expirationDate, facts.entityType].some((fact) => fact !== "");
  return !hasMore && facts.registrationStatus === statusOf(previous, registryDay(facts.retrievedAt));
}

/** Returns the known facts with the provider's; unknown ones are left out. */
function samFactsOf(before: SamFacts | undefined, facts: ProviderFacts): SamFacts {
  const status = facts.registrationStatus;
  const listedAs = status === "expired" || status === "inactive" ? status : "active";
  const listing: Pick<SamFacts, "sam_registered" | "listed_as" | "excluded"> = status
    ? { sam_registered: true, listed_as: listedAs, excluded: status === "debarred" }
    : { sam_registered: false, listed_as: "inactive", excluded: false, ...before };
  return {
    ...before,
    ...listing,
    ...(facts.expirationDate && { expiration_date: facts.expirationDate }),
    ...(facts.cage && { cage: facts.cage }),
    ...(facts.entityType && { entity_type: facts.entityType }),
  };
}
