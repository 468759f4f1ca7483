import type { PartOutcome } from "../addresses/compare-address.ts";
import type { NameFeatures } from "./compare-names.ts";
import { equalNames, type NameScore, weighDifferences } from "./score-name.ts";

/** One thing that a comparison of names rests on. */
export interface NamePart {
  part: string;
  outcome: PartOutcome;
  /** Its share of what was weighed; negative where it told against. */
  weight: number;
}

const parts: Readonly<Record<keyof NameFeatures, readonly [part: string, outcome: PartOutcome]>> = {
  doubt: ["spelling", "contradicts"],
  contradiction: ["words that differ", "contradicts"],
  otherWord: ["words that differ", "contradicts"],
  omission: ["words of one name alone", "absent"],
  extraWord: ["words of one name alone", "absent"],
  otherNumber: ["number", "contradicts"],
  extraNumber: ["number", "absent"],
  otherPlace: ["place", "contradicts"],
  commonWordsOnly: ["distinctive word", "absent"],
  otherOrder: ["word order", "contradicts"],
  otherForm: ["legal form", "contradicts"],
  absentForm: ["legal form", "absent"],
};

/** What agreed, what contradicted and what is missing on one side, with the share that each weighed. */
export function nameParts({ features, shared }: NameScore): NamePart[] {
  const weights = new Map<string, NamePart>();
  const differences = weighDifferences(features);
  const agreeing = shared.length > 0 ? equalNames : 0;
  const all = differences.reduce((sum, { weight }) => sum + weight, agreeing) || 1;
  if (agreeing > 0) weights.set("", { part: "words in common", outcome: "agrees", weight: agreeing / all });
  for (const { difference, weight } of differences) {
    const [part, outcome] = parts[difference];
    const before = weights.get(part)?.weight ?? 0;
    weights.set(part, { part, outcome, weight: before - weight / all });
  }
  return [...weights.values()].map((each) => ({ ...each, weight: Math.round(each.weight * 1000) / 1000 }));
}

/** The words in one phrase for a person. */
export function describeName(name: NameScore): string {
  const phrases = [`in common: ${name.shared.join(", ") || "nothing"}`];
  if (name.onlyInQuery.length > 0) phrases.push(`only asked for: ${name.onlyInQuery.join(", ")}`);
  if (name.onlyInCandidate.length > 0) phrases.push(`only in the entity's: ${name.onlyInCandidate.join(", ")}`);
  phrases.push(`legal form ${name.legalForm}`);
  return phrases.join("; ");
}
