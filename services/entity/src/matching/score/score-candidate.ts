import { type IdentifierType, identifierTypes } from "@vvs/identifiers";
import type { Address } from "../../model/facts.ts";
import type { AddressQuery } from "../addresses/address.ts";
import type { PartOutcome } from "../addresses/compare-address.ts";
import { type AddressScore, scoreAddress } from "../addresses/score-address.ts";
import type { Idf } from "../names/idf.ts";
import { describeName, nameParts } from "../names/name-reasons.ts";
import type { NormalizedName } from "../names/normalize-name.ts";
import { type NameScore, scoreName } from "../names/score-name.ts";

/** What a fuzzy look-up asks for. Identifier values are normalized; a TIN may be its hash on both sides. */
export interface FuzzyQuery {
  identifiers: Readonly<Partial<Record<IdentifierType, string>>>;
  name?: NormalizedName;
  address?: AddressQuery;
}

/** What is compared of an entity. */
export interface FuzzyEntity {
  identifiers: Readonly<Partial<Record<IdentifierType, string>>>;
  /** The legal name first, then the others; none for an entity whose name is a placeholder. */
  names: readonly NormalizedName[];
  addresses: readonly Address[];
}

/** One criterion of a score: what it said, and what it changed. */
export interface Explanation {
  /** `identifiers.<type>`, `legal_name` or `address`. */
  criterion: string;
  outcome: PartOutcome;
  /** What it added to the confidence (or took from it, where negative). */
  weight: number;
  /** One phrase for a person. Never an identifier's value. */
  detail: string;
  /** What it is made of; weights are shares of the criterion, negative where a part contradicts. */
  parts?: readonly ExplainedPart[];
}

export interface ExplainedPart {
  part: string;
  outcome: PartOutcome;
  weight: number;
}

export interface CandidateScore {
  /** 0–1, three decimals. */
  confidence: number;
  explanation: Explanation[];
}

interface BestName extends NameScore {
  /** Which of the entity's names it is. */
  name: NormalizedName;
}

/** How alike the best of an entity's names is, and how sure one can be of the entity by it. */
export interface ScoredName extends BestName {
  confidence: number;
}

/** From here on an entity is a candidate. */
export const candidateConfidence = 0.6;

const identifierScore = 0.995;
/** With an identifier that agrees, a name of another company still leaves a doubt. */
const foreignNameScore = 0.9;
const contradictionFactor = 0.75;
const mixedIdentifiersCap = 0.7;
const otherNameFactor = 0.98;
const nameAgrees = 0.6;
const nameContradicts = 0.3;
/** Of the doubt that a name leaves, an address that agrees takes so much. */
const agreeingShare = 0.6;

/**
 * Scores an entity for a fuzzy look-up. An identifier that agrees is all but proof; one that contradicts pulls down,
 * one that the entity does not carry says nothing. The name counts next, the address raises or lowers what the name
 * gave, and stands by itself only where neither was asked for.
 *
 * @param name the best of the entity's names, and the confidence that it gives beside other candidates
 */
export function scoreCandidate(
  query: FuzzyQuery,
  entity: FuzzyEntity,
  idf: Idf,
  name: ScoredName | undefined = nameScore(query, entity, idf),
): CandidateScore {
  const explanation: Explanation[] = [];
  let confidence = 0;
  const explain: Explain = (criterion, outcome, after, detail, parts) => {
    explanation.push({ criterion, outcome, weight: rounded(after - confidence), detail, ...(parts && { parts }) });
    confidence = after;
  };

  if (name) {
    const outcome = name.score >= nameAgrees ? "agrees" : "contradicts";
    explain("legal_name", outcome, name.confidence, describeName(name), nameParts(name));
  } else if (query.name) explain("legal_name", "absent", 0, "the entity has no name");

  if (query.address !== undefined) {
    const address = scoreAddress(query.address, entity.addresses);
    if (address) {
      const after = name ? withAddress(name, address) : query.name ? 0 : address.alone;
      explain("address", address.outcome, after, address.detail, address.parts);
    } else explain("address", "absent", confidence, "the entity has no address");
  }

  explainIdentifiers(query, entity, name, () => confidence, explain);
  return { confidence: rounded(Math.min(1, Math.max(0, confidence))), explanation };
}

type Explain = (
  criterion: string,
  outcome: PartOutcome,
  after: number,
  detail: string,
  parts?: readonly ExplainedPart[],
) => void;

function explainIdentifiers(
  query: FuzzyQuery,
  entity: FuzzyEntity,
  name: NameScore | undefined,
  confidence: () => number,
  explain: Explain,
): void {
  const asked = identifierTypes.filter((type) => query.identifiers[type] !== undefined);
  const agreeing = asked.filter((type) => entity.identifiers[type] === query.identifiers[type]);
  const contradicting = asked.filter((type) => entity.identifiers[type] !== undefined && !agreeing.includes(type));
  const isForeign = name !== undefined && name.score < 0.3;
  for (const type of agreeing) {
    const after = Math.max(confidence(), isForeign ? foreignNameScore : identifierScore);
    explain(`identifiers.${type}`, "agrees", after, `the ${type.toUpperCase()} is the same`);
  }
  for (const type of contradicting) {
    const lowered = confidence() * contradictionFactor;
    const after = agreeing.length > 0 ? Math.min(lowered, mixedIdentifiersCap) : lowered;
    explain(`identifiers.${type}`, "contradicts", after, `the entity has another ${type.toUpperCase()}`);
  }
  for (const type of asked) {
    if (agreeing.includes(type) || contradicting.includes(type)) continue;
    explain(`identifiers.${type}`, "absent", confidence(), `the entity has no ${type.toUpperCase()}`);
  }
}

/** The best of an entity's names, by itself: its confidence is its score. Undefined where there is none to compare. */
export function nameScore(query: FuzzyQuery, entity: FuzzyEntity, idf: Idf): ScoredName | undefined {
  const best = query.name && bestName(query.name, entity, idf);
  return best && { ...best, confidence: best.score };
}

function bestName(query: NormalizedName, entity: FuzzyEntity, idf: Idf): BestName | undefined {
  let best: BestName | undefined;
  for (const [index, name] of entity.names.entries()) {
    const scored = scoreName(query, name, idf);
    const score = index === 0 ? scored.score : scored.score * otherNameFactor;
    if (!best || score > best.score) best = { ...scored, score, name };
  }
  return best;
}

/**
 * What name and address say together. Where the address agrees, namesakes elsewhere take nothing from the name: it counts
 * by its own score, and more than half of the doubt that is left goes too. One that contradicts takes up to a sixth away.
 * Whoever has another name is another organization, also at the same address.
 */
function withAddress(name: ScoredName, { score }: AddressScore): number {
  const sure = name.score < nameAgrees ? Math.min(name.confidence, name.score) : name.confidence;
  if (score < 0.5) return sure * (1 - (0.5 - score) / 3);
  const agreement = (score - 0.5) * 2;
  const mayBe = Math.min(1, Math.max(0, (name.score - nameContradicts) / (nameAgrees - nameContradicts)));
  const base = sure + Math.max(0, name.score - sure) * agreement;
  return base + (1 - base) * agreement * agreeingShare * mayBe;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
