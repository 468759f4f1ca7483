import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Evidence } from "@vvs/proto/verification/v1/verification";
import { exactTime, longDay, utcDay } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";
import { providerName } from "../ui/vocabulary.ts";

/** A source that an answer rests on. */
export interface EvidenceSource {
  /** What it says, such as "Registration"; empty where the whole answer is from it. */
  readonly part: string;
  readonly name: string;
  /** The loaded file; empty where there is none. */
  readonly file: string;
  /** In words, with what the date is of. */
  readonly date: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the sources of an answer, each with its file and date: for SAM.gov's those of the registration and of the
 * exclusions, and for others the provider itself.
 */
export function evidenceSources(evidence: SourceEvidence): EvidenceSource[] {
  if (evidence.sources.length === 0) return earlierSources(evidence);
  return evidence.sources.map(({ part, origin, dataAsOf, file }) => {
    const at = timestampDate(dataAsOf!);
    const name = part === "registration" ? "Registration" : "Exclusions";
    return { part: name, name: providerName(origin), file, date: dateOf(origin, at) };
  });
}

/** Returns the sources of evidence from before they were stored with it: its content names them. */
function earlierSources({ origin, content, createdAt }: SourceEvidence): EvidenceSource[] {
  const evidence = objectIn(content);
  const parts = objectOf(evidence.rests_on);
  const files = objectOf(evidence.files ?? evidence);
  const sources = [
    partSource("Registration", objectOf(parts.registration), files),
    partSource("Exclusions", objectOf(parts.exclusions), files),
  ].filter((source) => source !== undefined);
  if (sources.length > 0) return sources;
  if (origin === "none") return [];
  return [{ part: "", name: providerName(origin), file: "", date: `answered ${exactTime(createdAt)}` }];
}

/** Returns the sources of evidence as a list; false where there are none. */
export function sourceList(evidence: Evidence): Html | false {
  const sources = evidenceSources({ ...evidence, createdAt: timestampDate(evidence.createdAt!) });
  return (
    sources.length > 0 &&
    html`<ul class="plain">${sources.map(({ part, name, file, date }) => html`<li>${part && html`${part}: `}${name}${file && html` <code>${file}</code>`}, ${date}</li>`)}</ul>`
  );
}

/** The parts of evidence that name its sources. */
interface SourceEvidence extends Pick<Evidence, "origin" | "content" | "sources"> {
  readonly createdAt: Date;
}

function partSource(part: string, { origin, date }: Json, files: Json): EvidenceSource | undefined {
  const at = new Date(String(date));
  if (typeof origin !== "string" || Number.isNaN(at.getTime())) return undefined;
  const file = { sam_gov_extract: files.registry_file, sam_gov_exclusions: files.exclusions_file }[origin];
  return { part, name: providerName(origin), file: typeof file === "string" ? file : "", date: dateOf(origin, at) };
}

function dateOf(origin: string, at: Date): string {
  return origin === "sam_gov_api" ? `answered ${exactTime(at)}` : `cut on ${longDay(utcDay(at))}`;
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function objectIn(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}
