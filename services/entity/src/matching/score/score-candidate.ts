import type { IdentifierType } from "@vvs/identifiers";
import type { Address, AddressQuery } from "../addresses/address.ts";
import { type AddressScore, scoreAddress } from "../addresses/score-address.ts";
import type { PartOutcome, Reason, ReasonPart } from "../explanation.ts";
import type { Idf } from "../names/idf.ts";
import { describeName, nameParts } from "../names/name-reasons.ts";
import type { NormalizedName } from "../names/normalize-name.ts";
import { type NameScore, scoreName } from "../names/score-name.ts";

/** The criteria of a fuzzy look-up besides identifiers. */
export interface FuzzyQuery {
  name?: NormalizedName;
  address?: AddressQuery;
}

/** How the identifiers of a look-up compare with an entity. */
export type IdentifierOutcomes = ReadonlyMap<IdentifierType, PartOutcome>;

/** What a query is compared with. */
export interface FuzzyEntity {
  identifiers: IdentifierOutcomes;
  /** The legal name first, then the others; none for an entity whose name is a placeholder. */
  names: readonly NormalizedName[];
  addresses: readonly Address[];
}

export interface CandidateScore {
  /** 0–1, three decimals. */
  confidence: number;
  /** What each criterion added to the confidence. Never contains an identifier's value. */
  explanation: Reason[];
}

/** The best of an entity's names, and the confidence that the entity is meant, by its name. */
export interface ScoredName extends NameScore {
  name: NormalizedName;
  confidence: number;
}

/** From this confidence on, an entity is a candidate. */
export const candidateConfidence = 0.6;

const identifierScore = 0.995;
/** Confidence of an identifier that agrees where the name is another company's. */
const foreignNameScore = 0.9;
/** What a name that is hardly alike, and another address, take from an identifier that agrees. */
const doubtfulNameDoubt = 0.04;
const otherAddressDoubt = 0.01;
const contradictionFactor = 0.75;
const mixedIdentifiersCap = 0.7;
const otherNameFactor = 0.98;
const nameAgrees = 0.6;
const nameContradicts = 0.3;
/** The share of the remaining doubt that an agreeing address removes. */
const agreeingShare = 0.6;

/**
 * Scores an entity for a fuzzy look-up. An identifier that agrees is nearly proof: another name beside it lowers the
 * confidence, another address hardly. One that contradicts lowers it, one that the entity lacks changes nothing. Without
 * an agreeing identifier the address raises or lowers what the name gives, and counts by itself only in a query without a
 * name. `name` has the confidence beside the other candidates.
 */
export function scoreCandidate(
  query: FuzzyQuery,
  entity: FuzzyEntity,
  idf: Idf,
  name: ScoredName | undefined = nameScore(query, entity, idf),
): CandidateScore {
  const explanation: Reason[] = [];
  let confidence = 0;
  const explain = (criterion: string, compared: PartOutcome, after: number, detail: string, parts?: ReasonPart[]) => {
    const weight = rounded(after - confidence);
    // What is different but lowers nothing speaks for the entity as far as it agrees.
    const outcome = compared === "contradicts" && weight >= 0 ? "agrees" : compared;
    explanation.push({ criterion, outcome, weight, detail, ...(parts && { parts }) });
    confidence = after;
  };

  const asked = [...entity.identifiers.keys()];
  const { agrees, contradicts, absent } = Object.groupBy(asked, (type) => entity.identifiers.get(type)!);
  const explainIdentifier = (type: IdentifierType, outcome: PartOutcome, after: number) =>
    explain(`identifiers.${type}`, outcome, after, identifierDetail(type, outcome));
  for (const type of agrees ?? []) explainIdentifier(type, "agrees", identifierScore);

  if (name) {
    const outcome = name.score >= nameAgrees ? "agrees" : "contradicts";
    const after = agrees ? Math.max(besideIdentifier(name), name.confidence) : name.confidence;
    explain("legal_name", outcome, after, describeName(name), nameParts(name));
  } else if (query.name) explain("legal_name", "absent", confidence, "the entity has no name");

  if (query.address !== undefined) {
    const address = scoreAddress(query.address, entity.addresses);
    if (address) {
      const alone = name ? withAddress(name, address) : query.name ? 0 : address.alone;
      const doubt = otherAddressDoubt * Math.max(0, 1 - 2 * address.score);
      const after = agrees ? Math.max(confidence - doubt, alone) : alone;
      explain("address", address.outcome, after, address.detail, address.parts);
    } else explain("address", "absent", confidence, "the entity has no address");
  }

  for (const type of contradicts ?? []) {
    const lowered = confidence * contradictionFactor;
    explainIdentifier(type, "contradicts", agrees ? Math.min(lowered, mixedIdentifiersCap) : lowered);
  }
  for (const type of absent ?? []) explainIdentifier(type, "absent", confidence);
  return { confidence: rounded(Math.min(1, Math.max(0, confidence))), explanation };
}

/** The confidence by a name where an identifier agrees. */
function besideIdentifier({ score }: ScoredName): number {
  if (score < nameContradicts) return foreignNameScore;
  const difference = Math.max(0, nameAgrees - score) / (nameAgrees - nameContradicts);
  return identifierScore - doubtfulNameDoubt * difference;
}

/** Describes in one phrase how an identifier compares; never contains its value. */
export function identifierDetail(type: IdentifierType, outcome: PartOutcome): string {
  const name = type.toUpperCase();
  if (outcome === "agrees") return `the ${name} is the same`;
  return outcome === "contradicts" ? `the entity has another ${name}` : `the entity has no ${name}`;
}

/** The best of an entity's names, its score as confidence; undefined where the query or the entity has no name. */
export function nameScore({ name: query }: FuzzyQuery, { names }: FuzzyEntity, idf: Idf): ScoredName | undefined {
  if (!query) return undefined;
  let best: ScoredName | undefined;
  for (const [index, name] of names.entries()) {
    const scored = scoreName(query, name, idf);
    const score = index === 0 ? scored.score : scored.score * otherNameFactor;
    if (!best || score > best.score) best = { ...scored, score, name, confidence: score };
  }
  return best;
}

/**
 * The confidence by name and address together. Where the address agrees, entities of the same name elsewhere do not
 * matter: the name's own score counts, and more than half of the remaining doubt is removed. An address that contradicts
 * takes up to a sixth. Another name at the same address is another organization.
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
