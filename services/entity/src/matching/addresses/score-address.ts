import type { Address } from "../../model/facts.ts";
import type { AddressQuery } from "./address.ts";
import {
  type AddressComparison,
  type AddressPart,
  type ComparedPart,
  compareAddress,
  type PartOutcome,
} from "./compare-address.ts";

/** What the best of an entity's addresses says. */
export interface AddressScore {
  readonly outcome: PartOutcome;
  /** 0–1: from here to 0.5 and below it contradicts, above it agrees. */
  readonly score: number;
  /** How sure an entity is meant where nothing but the address was asked for, 0–1. */
  readonly alone: number;
  /** One phrase for a person. */
  readonly detail: string;
  /** Each part that both sides have; weights are shares of what was compared, negative where it contradicts. */
  readonly parts: readonly { readonly part: AddressPart; readonly outcome: PartOutcome; readonly weight: number }[];
}

const exactAlone = 0.9;
/** Where the parts' log-odds leave it open whether it is the address, and how steeply that turns. */
const openEvidence = 3.6;
const steepness = 1.8;

/** Scores the address of an entity that is nearest to the one asked for; undefined for an entity without one. */
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
    alone: best.isExact ? exactAlone : exactAlone * logistic(steepness * (best.evidence - openEvidence)),
    detail: describe(best),
    parts: shares(best.parts),
  };
}

function rank({ isExact, evidence }: AddressComparison): number {
  return isExact ? 100 + evidence : evidence;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function shares(parts: readonly ComparedPart[]) {
  const all = parts.reduce((sum, { evidence }) => sum + Math.abs(evidence), 0) || 1;
  return parts.map(({ part, outcome, evidence }) => ({
    part,
    outcome,
    weight: Math.round((evidence / all) * 1000) / 1000,
  }));
}

const called: Readonly<Record<AddressPart, string>> = {
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
      .map(({ part }) => called[part])
      .join(", ");
  const phrases = [
    ...(isExact ? ["it holds one of the entity's addresses"] : []),
    ...(named("agrees") ? [`the same: ${named("agrees")}`] : []),
    ...(named("contradicts") ? [`different: ${named("contradicts")}`] : []),
  ];
  return phrases.join("; ") || "nothing in common that could be compared";
}
