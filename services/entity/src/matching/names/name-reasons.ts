import type { PartOutcome, ReasonPart } from "../explanation.ts";
import type { NameFeatures } from "./compare-names.ts";
import { equalNames, type NameScore, weighDifferences } from "./score-name.ts";

const parts: Readonly<Record<keyof NameFeatures, readonly [part: string, outcome: PartOutcome]>> = {
  doubt: ["spelling", "contradicts"],
  contradiction: ["words that differ", "contradicts"],
  otherWord: ["words that differ", "contradicts"],
  omission: ["words of only one name", "absent"],
  extraWord: ["words of only one name", "absent"],
  otherNumber: ["number", "contradicts"],
  extraNumber: ["number", "absent"],
  otherPlace: ["place", "contradicts"],
  commonWordsOnly: ["distinctive word", "absent"],
  otherOrder: ["word order", "contradicts"],
  knownWord: ["spelling", "contradicts"],
  otherForm: ["legal form", "contradicts"],
  absentForm: ["legal form", "absent"],
};

/** What agrees, contradicts and is absent from one name; weights are shares, negative where they lower the score. */
export function nameParts({ features, shared }: NameScore): ReasonPart[] {
  const weights = new Map<string, ReasonPart>();
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

/** Describes in one phrase which words the names share. */
export function describeName(name: NameScore): string {
  const phrases = [`in common: ${name.shared.join(", ") || "nothing"}`];
  if (name.onlyInQuery.length > 0) phrases.push(`only asked for: ${name.onlyInQuery.join(", ")}`);
  if (name.onlyInCandidate.length > 0) phrases.push(`only in the entity's: ${name.onlyInCandidate.join(", ")}`);
  phrases.push(`legal form ${name.legalForm}`);
  return phrases.join("; ");
}
