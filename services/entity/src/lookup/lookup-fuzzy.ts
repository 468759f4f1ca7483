import type { Tenant } from "@vvs/tenant";
import { readAddress } from "../matching/addresses/address.ts";
import type { Idf } from "../matching/names/idf.ts";
import { type NormalizedName, normalizeName } from "../matching/names/normalize-name.ts";
import { nameConfidences } from "../matching/score/calibrate.ts";
import {
  candidateConfidence,
  type FuzzyEntity,
  type FuzzyQuery,
  nameScore,
  type ScoredName,
  scoreCandidate,
} from "../matching/score/score-candidate.ts";
import type { FoundEntity } from "../model/documents.ts";
import { MAX_CANDIDATES } from "../model/refusals.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import { type Criteria, type Match, nameForLookup, noMatch } from "./lookup.ts";
import type { Named } from "./naming.ts";

/** Entities that may be meant, some perhaps twice, and how telling words are among the names that they were found in. */
export interface Candidates {
  readonly entities: readonly FoundEntity[];
  readonly idf: Idf;
}

/** What entities are searched by; at least one of them. */
export interface CandidateQuery {
  readonly name: NormalizedName | undefined;
  /** One line. */
  readonly address: string | undefined;
}

/** Finds entities that may be meant, in bounded work; they are scored afterwards. */
export type CandidateSource = (tenant: Tenant, query: CandidateQuery) => Promise<Candidates>;

/** So sure, and so far ahead of the next, that there is no choice to offer. */
const CERTAIN_CONFIDENCE = 0.95;
const CERTAIN_LEAD = 0.1;
/**
 * By a name alone, where the likeliest is meant at least this probably, it and those that are not far less likely are
 * offered at the least confidence that a candidate has: somebody who left a word out had better choose among some than
 * find nothing.
 */
const OFFERED_FROM = 0.02;
const LEAST_OFFERED = 0.002;
const MOST_OFFERED = 0.62;

/**
 * Scores all criteria together. One match, or several candidates, best first: one that is certain and far ahead comes
 * alone. Errors: entity_not_found, ambiguous_match where identifiers name different entities.
 */
export function createFuzzyLookup(options: { store: EntityStore; tins: TinVault; candidates: CandidateSource }) {
  return async (tenant: Tenant, criteria: Criteria): Promise<readonly [Match, ...Match[]]> => {
    const { identifiers, legalName, address } = criteria;
    const named = await nameForLookup(options, tenant, criteria);
    const name = legalName === "" ? undefined : normalizeName(legalName);
    const query: FuzzyQuery = { identifiers, name, address: address ? readAddress(address) : undefined };
    const found = await options.candidates(tenant, { name, address: address || undefined });
    const distinct = new Map([...found.entities, ...named.entities].map((entity) => [entity._id, entity]));
    const [first, ...others] = matchesAmong({
      query,
      entities: [...distinct.values()],
      idf: found.idf,
      comparable: (entity) => comparable(entity, named, criteria),
    });
    if (!first) throw noMatch(identifiers);
    return [first, ...others];
  };
}

/** The entities that are alike enough, best first: one that is certain and far ahead comes alone, else at most ten. */
export function matchesAmong(options: {
  query: FuzzyQuery;
  entities: readonly FoundEntity[];
  idf: Idf;
  /** What is compared of an entity. */
  comparable: (entity: FoundEntity) => FuzzyEntity;
}): Match[] {
  const { query, entities, idf, comparable } = options;
  const compared = entities.map(comparable);
  const names = namesAmong(query, compared, idf);
  const matches = entities
    .map((entity, index) => {
      const name = names[index];
      return { entity, byName: name?.confidence ?? 0, ...scoreCandidate(query, compared[index]!, idf, name) };
    })
    .filter(({ confidence }) => confidence >= candidateConfidence)
    // By three decimals, those that are offered are often equal: their order is by what they come from.
    .sort((a, b) => b.confidence - a.confidence || b.byName - a.byName || (a.entity._id < b.entity._id ? -1 : 1))
    .map(({ byName: _, ...match }): Match => match);
  const [first, second] = matches;
  if (!first || !second) return matches;
  // Confidences have three decimals; their difference has the noise of binary fractions.
  const lead = Math.round((first.confidence - second.confidence) * 1000);
  const isAlone = first.confidence >= CERTAIN_CONFIDENCE && lead >= CERTAIN_LEAD * 1000;
  return isAlone ? [first] : matches.slice(0, MAX_CANDIDATES);
}

/** The best name of each entity, and how sure one can be of it beside the others; undefined where there is none. */
function namesAmong(
  query: FuzzyQuery,
  entities: readonly FuzzyEntity[],
  idf: Idf,
): readonly (ScoredName | undefined)[] {
  const scored = entities.map((entity) => nameScore(query, entity, idf));
  // Entities of one and the same name are no rivals: by their name alone each is as good as the other.
  const distinct = new Map(scored.flatMap((name) => (name ? [[keyOf(name), name] as const] : [])));
  const confidences = nameConfidences([...distinct.values()]);
  const byKey = new Map([...distinct.keys()].map((key, index) => [key, confidences[index]!]));
  const isByNameAlone = query.address === undefined && Object.keys(query.identifiers).length === 0;
  const isOffered = isByNameAlone && Math.max(...confidences) >= OFFERED_FROM;
  return scored.map((name) => {
    if (!name) return undefined;
    const confidence = byKey.get(keyOf(name))!;
    return { ...name, confidence: isOffered ? offered(confidence) : confidence };
  });
}

/** Raises a confidence that is too small for a candidate, and worth an offer: in the order that they had. */
function offered(confidence: number): number {
  if (confidence < LEAST_OFFERED || confidence >= MOST_OFFERED) return confidence;
  const share = (confidence - LEAST_OFFERED) / (MOST_OFFERED - LEAST_OFFERED);
  return candidateConfidence + share * (MOST_OFFERED - candidateConfidence);
}

function keyOf({ name, score }: ScoredName): string {
  return `${score} ${name.key} ${name.legalForms.join(" ")}`;
}

/** The names that an entity is compared by. */
export function namesOf(entity: Pick<FoundEntity, "legal_name" | "placeholder" | "other_names">): NormalizedName[] {
  const legalNames = entity.placeholder ? [] : [entity.legal_name];
  return [...legalNames, ...entity.other_names].map(normalizeName);
}

/** What is compared of an entity. An identifier that named it counts as its own, a remembered one or a TIN too. */
function comparable(entity: FoundEntity, named: Named, { identifiers }: Criteria): FuzzyEntity {
  const agreeing = named.agreementsOf(entity).map((type) => [type, identifiers[type]]);
  const contradicting = named.contradictionsOf(entity).map((type) => [type, ""]);
  return {
    identifiers: Object.fromEntries([...agreeing, ...contradicting]),
    names: namesOf(entity),
    addresses: entity.addresses,
  };
}
