import { maskTins } from "@vvs/identifiers";
import type { MatchReason } from "@vvs/proto/common/v1/common";
import { type Html, html } from "../http/html.ts";
import { messageText } from "../http/problem.ts";
import { state } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { identifierLabels } from "../verifications/verification-form.ts";

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
  contradicts: "differs",
  absent: "unknown",
};

/** Renders why a search found a vendor: what agreed, what differed, and how much each counted. */
export function matchExplanation(reasons: readonly MatchReason[], of: string): Html | undefined {
  if (reasons.length === 0) return undefined;
  return html`<details class="why"><summary>Show why it matches<span class="unseen">: ${of}</span></summary>
${table("", reasons, [
  ["Search field", ({ criterion }) => criteria[criterion] ?? criterion],
  ["Vendor", outcomeState],
  ["Weight", ({ weight }) => signed(weight), "number"],
  ["Comparison", comparison],
])}
<p class="hint">The weights add up to the confidence. What differs lowers it; a name that differs only in part adds to it. Percentages say how much each part counted.</p>
</details>`;
}

function outcomeState({ outcome, weight }: MatchReason): Html {
  const isPartial = outcome === "contradicts" && weight > 0;
  return isPartial ? state("partial", "differs in part") : state(outcome, outcomes[outcome] ?? outcome);
}

function comparison({ detail, parts: made = [] }: MatchReason): Html {
  return html`${sentence(messageText(maskTins(detail)))}${
    made.length > 0 &&
    html`<ul class="plain parts">${made.map(({ part, outcome, weight }) => html`<li>${state(outcome, partText(parts[part] ?? part, outcome))} <span class="hint">${percent(Math.abs(weight))}</span></li>`)}</ul>`
  }`;
}

/** Returns a text such as "same street", "different house number" or "legal form on only one side". */
function partText(part: string, outcome: string): string {
  // These are complete already: "words in common", "words that differ".
  if (part.startsWith("words")) return part;
  if (outcome === "absent") return `${part} on only one side`;
  return `${outcome === "agrees" ? "same" : "different"} ${part}`;
}

function signed(weight: number): string {
  const text = Math.abs(weight).toFixed(2);
  return Number(text) === 0 ? "0" : `${weight < 0 ? "−" : "+"}${text}`;
}

/** Formats a share (0–1) as a percentage. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}\u00a0%`;
}

function sentence(text: string): string {
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
