import type { MatchReason } from "@vvs/errors";
import { maskTins } from "@vvs/identifiers";
import { type Html, html } from "../http/html.ts";
import { identifierLabels } from "../verification-form.ts";
import { state } from "./parts.ts";

const criteria: Readonly<Record<string, string>> = {
  legal_name: "Name",
  address: "Address",
  ...Object.fromEntries(Object.entries(identifierLabels).map(([type, label]) => [`identifiers.${type}`, label])),
};

const parts: Readonly<Record<string, string>> = {
  number: "house number",
  street: "street",
  unit: "unit",
  box: "box",
  city: "city",
  state: "state",
  zip: "ZIP code",
};

const outcomes: Readonly<Record<string, string>> = {
  agrees: "agrees",
  contradicts: "contradicts",
  absent: "not known",
};

/** Why a search found an entity: what agreed, what contradicted, and what each added to the confidence. */
export function matchExplanation(reasons: readonly MatchReason[], of: string): Html | undefined {
  if (reasons.length === 0) return undefined;
  return html`<details class="why"><summary>Why<span class="unseen"> ${of}</span></summary>
<table>
<thead><tr><th scope="col">Asked for</th><th scope="col">The entity</th><th scope="col">Weight</th><th scope="col">What was compared</th></tr></thead>
<tbody>${reasons.map(row)}</tbody>
</table>
<p class="hint">Weights add up to the confidence; what contradicts takes away from it. Percentages say how much a part counted.</p>
</details>`;
}

function row({ criterion, outcome, weight, detail, parts: made = [] }: MatchReason): Html {
  return html`<tr>
<th scope="row">${criteria[criterion] ?? criterion}</th>
<td data-label="The entity">${state(outcome, outcomes[outcome] ?? outcome)}</td>
<td data-label="Weight" class="number">${signed(weight)}</td>
<td data-label="What was compared">${sentence(maskTins(detail))}${
    made.length > 0 &&
    html`<ul class="plain parts">${made.map(({ part, outcome, weight }) => html`<li>${state(outcome, partText(parts[part] ?? part, outcome))} <span class="hint">${percent(Math.abs(weight))}</span></li>`)}</ul>`
  }</td>
</tr>
`;
}

/** "same street", "other house number", "legal form on one side alone". */
function partText(part: string, outcome: string): string {
  // Some say it by themselves: "words in common", "words that differ".
  if (part.startsWith("words")) return part;
  if (outcome === "absent") return `${part} on one side alone`;
  return `${outcome === "agrees" ? "same" : "other"} ${part}`;
}

function signed(weight: number): string {
  const text = Math.abs(weight).toFixed(2);
  return Number(text) === 0 ? "0" : `${weight < 0 ? "−" : "+"}${text}`;
}

/** A share of 1 as people say it. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}\u00a0%`;
}

function sentence(text: string): string {
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
