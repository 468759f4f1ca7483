import type { PartOutcome, ReasonPart } from "../explanation.ts";
import type { Address, AddressQuery } from "./address.ts";
import { type AddressComparison, type AddressPart, type ComparedPart, compareAddress } from "./compare-address.ts";

/** The score of the best of an entity's addresses. */
export interface AddressScore {
  readonly outcome: PartOutcome;
  /** 0–1: agrees from 0.5 on. */
  readonly score: number;
  /** The confidence in the entity where the query has only an address, 0–1. */
  readonly alone: number;
  readonly detail: string;
  /** The parts that both addresses have; weights are shares, negative where a part contradicts. */
  readonly parts: ReasonPart[];
}

const exactAlone = 0.9;
/** Without house number and place an address is no candidate: many entities are in one street or of one number. */
const mostUnfindable = 0.5;
/** The evidence at which `alone` is half of its maximum, and the steepness there. */
const openEvidence = 3.6;
const steepness = 1.8;

/** Scores the most similar address of an entity; undefined for an entity without addresses. */
export function scoreAddress(query: AddressQuery, addresses: readonly Address[]): AddressScore | undefined {
  let best: AddressComparison | undefined;
  for (const address of addresses) {
    const compared = compareAddress(query, address);
    if (!best || rank(compared) > rank(best)) best = compared;
  }
  if (!best) return undefined;
  const score = best.isExact ? 1 : best.parts.length === 0 ? 0.5 : logistic(best.evidence);
  const outcome = best.parts.length === 0 && !best.isExact ? "absent" : score >= 0.5 ? "agrees" : "contradicts";
  return {
    outcome,
    score,
    alone: aloneOf(best),
    detail: describe(best),
    parts: shares(best.parts),
  };
}

function aloneOf({ isExact, isFindable, evidence }: AddressComparison): number {
  if (isExact) return exactAlone;
  const alone = exactAlone * logistic(steepness * (evidence - openEvidence));
  return isFindable ? alone : Math.min(mostUnfindable, alone);
}

function rank({ isExact, evidence }: AddressComparison): number {
  return isExact ? 100 + evidence : evidence;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function shares(parts: readonly ComparedPart[]): ReasonPart[] {
  const all = parts.reduce((sum, { evidence }) => sum + Math.abs(evidence), 0) || 1;
  return parts.map(({ part, outcome, evidence }) => ({
    part,
    outcome,
    weight: Math.round((evidence / all) * 1000) / 1000,
  }));
}

const partNames: Readonly<Record<AddressPart, string>> = {
  number: "house number",
  street: "street",
  unit: "unit",
  box: "box",
  city: "city",
  state: "state",
  zip: "ZIP code",
};

function describe({ parts, isExact }: AddressComparison): string {
  const named = (outcome: PartOutcome) =>
    parts
      .filter((part) => part.outcome === outcome)
      .map(({ part }) => partNames[part])
      .join(", ");
  const phrases = [
    ...(isExact ? ["it holds one of the entity's addresses"] : []),
    ...(named("agrees") ? [`the same: ${named("agrees")}`] : []),
    ...(named("contradicts") ? [`different: ${named("contradicts")}`] : []),
  ];
  return phrases.join("; ") || "nothing in common that could be compared";
}
