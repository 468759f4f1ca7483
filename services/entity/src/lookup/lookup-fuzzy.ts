import { CERTAIN_CONFIDENCE } from "@vvs/identifiers/certain-match";
import type { Tenant } from "@vvs/tenant";
import { readAddress } from "../matching/addresses/address.ts";
import type { Idf } from "../matching/names/idf.ts";
import { type ComparedName, namesAgree, readName } from "../matching/names/name-agrees.ts";
import { type NormalizedName, normalizeName, sharesKey } from "../matching/names/normalize-name.ts";
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
import { mapInSlices, oneSlicePerLoop } from "./in-slices.ts";
import { type Criteria, identifierOutcomes, type Match, nameForLookup, noMatch } from "./lookup.ts";

/** Entities that may be meant, perhaps with duplicates, and the weights of words among the names searched. */
export interface Candidates {
  readonly entities: readonly FoundEntity[];
  readonly idf: Idf;
}

/** At least one of the two. */
export interface CandidateQuery {
  readonly name: NormalizedName | undefined;
  /** One line. */
  readonly address: string | undefined;
}

/** Finds the entities to score, in bounded work. */
export type CandidateSource = (tenant: Tenant, query: CandidateQuery) => Promise<Candidates>;

/** With this lead, a certain match is returned without other candidates. */
const CERTAIN_LEAD = 0.1;
/**
 * Where a look-up has only a name and the likeliest entity at least this confidence, that entity and others of some
 * likelihood are raised to the confidence of a candidate: a choice is better than no result, as when a word was omitted.
 */
const OFFERED_FROM = 0.02;
const LEAST_OFFERED = 0.002;
const MOST_OFFERED = 0.62;
/** Maximum confidence by a name that is equal only as look-ups read it: too little to verify a vendor by it. */
const MOST_IF_ANOTHER = 0.8;

/**
 * Scores all criteria together and returns one match or several candidates, best first. Errors: entity_not_found,
 * ambiguous_match where identifiers name different entities.
 */
export function createFuzzyLookup(options: { store: EntityStore; tins: TinVault; candidates: CandidateSource }) {
  const nextTurn = oneSlicePerLoop();
  return async (tenant: Tenant, criteria: Criteria): Promise<readonly [Match, ...Match[]]> => {
    const { identifiers, legalName, address } = criteria;
    const named = await nameForLookup(options, tenant, criteria);
    const given = legalName === "" ? undefined : readName(legalName);
    const name = given?.normalized;
    const query: FuzzyQuery = { name, address: address ? readAddress(address) : undefined };
    const found = await options.candidates(tenant, { name, address: address || undefined });
    const distinct = new Map([...found.entities, ...named.entities].map((entity) => [entity._id, entity]));
    const [first, ...others] = await matchesAmong({
      query,
      given,
      entities: [...distinct.values()],
      idf: found.idf,
      comparable: (entity) => ({
        identifiers: identifierOutcomes(named, identifiers, entity),
        names: namesOf(entity),
        addresses: entity.addresses,
      }),
      nextTurn,
    });
    if (!first) throw noMatch(identifiers, named.types);
    return [first, ...others];
  };
}

/** The best match only, where it is certain and far ahead; else at most ten candidates, best first. */
export async function matchesAmong(options: {
  query: FuzzyQuery;
  /** The name of the query. */
  given?: ComparedName | undefined;
  entities: readonly FoundEntity[];
  idf: Idf;
  comparable: (entity: FoundEntity) => FuzzyEntity;
  /** Resolves when it is this look-up's turn to continue a long computation. */
  nextTurn: () => Promise<void>;
}): Promise<Match[]> {
  const { query, given, entities, idf, comparable, nextTurn } = options;
  const compared = await mapInSlices(entities, comparable, nextTurn);
  const isByNameAlone = query.address === undefined && compared.every(({ identifiers }) => identifiers.size === 0);
  const scoredNames = await mapInSlices(compared, (entity) => nameScore(query, entity, idf), nextTurn);
  const names = namesAmong(scoredNames, isByNameAlone);
  const score = (entity: FoundEntity, index: number) => {
    const name = given && names[index] ? limited(given, names[index], entity) : names[index];
    return { entity, byName: name?.confidence ?? 0, ...scoreCandidate(query, compared[index]!, idf, name) };
  };
  const scored = await mapInSlices(entities, score, nextTurn);
  const matches = scored
    .filter(({ confidence }) => confidence >= candidateConfidence)
    // The confidences of offered candidates are often equal in three decimals: the confidence by name decides.
    .sort((a, b) => b.confidence - a.confidence || b.byName - a.byName || (a.entity._id < b.entity._id ? -1 : 1))
    .map(({ byName: _, ...match }): Match => match);
  const [first, second] = matches;
  if (!first || !second) return matches;
  // Confidences have three decimals; rounding removes the noise of binary fractions from their difference.
  const lead = Math.round((first.confidence - second.confidence) * 1000);
  const isAlone = first.confidence >= CERTAIN_CONFIDENCE && lead >= CERTAIN_LEAD * 1000;
  return isAlone ? [first] : matches.slice(0, MAX_CANDIDATES);
}

/** Gives the best name of each entity its confidence beside the others; undefined for an entity without a name. */
function namesAmong(
  scored: readonly (ScoredName | undefined)[],
  isByNameAlone: boolean,
): readonly (ScoredName | undefined)[] {
  // Entities of the same name share one confidence.
  const distinct = new Map(scored.flatMap((name) => (name ? [[keyOf(name), name] as const] : [])));
  const confidences = nameConfidences([...distinct.values()]);
  const byKey = new Map([...distinct.keys()].map((key, index) => [key, confidences[index]!]));
  const isOffered = isByNameAlone && Math.max(...confidences) >= OFFERED_FROM;
  return scored.map((name) => {
    if (!name) return undefined;
    const confidence = byKey.get(keyOf(name))!;
    return { ...name, confidence: isOffered ? offered(confidence) : confidence };
  });
}

/** Limits the confidence by a name whose differences have no weight, such as that of One Medical from First Medical. */
function limited(given: ComparedName, scored: ScoredName, entity: FoundEntity): ScoredName {
  if (scored.features.otherForm > 0 || !sharesKey(given.normalized, scored.name)) return scored;
  const agrees = [entity.legal_name, ...entity.other_names].some((name) => namesAgree(given, readName(name)));
  return agrees ? scored : { ...scored, confidence: Math.min(scored.confidence, MOST_IF_ANOTHER) };
}

/** Raises a confidence too low for a candidate, if it is worth offering; the order stays the same. */
function offered(confidence: number): number {
  if (confidence < LEAST_OFFERED || confidence >= MOST_OFFERED) return confidence;
  const share = (confidence - LEAST_OFFERED) / (MOST_OFFERED - LEAST_OFFERED);
  return candidateConfidence + share * (MOST_OFFERED - candidateConfidence);
}

function keyOf({ name, score }: ScoredName): string {
  return `${score} ${name.key} ${name.legalForms.join(" ")}`;
}

export function namesOf(entity: Pick<FoundEntity, "legal_name" | "placeholder" | "other_names">): NormalizedName[] {
  const legalNames = entity.placeholder ? [] : [entity.legal_name];
  return [...legalNames, ...entity.other_names].map(normalizeName);
}
