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

/**
 * Returns the sources of an answer, each with its file and date: for SAM.gov's those of the registration and of the
 * exclusions, and for others the provider itself.
 */
export function evidenceSources({ origin, sources, createdAt }: SourceEvidence): EvidenceSource[] {
  if (sources.length === 0 && origin !== "none") {
    return [{ part: "", name: providerName(origin), file: "", date: `answered ${exactTime(createdAt)}` }];
  }
  return sources.map(({ part, origin, dataAsOf, file }) => {
    const at = timestampDate(dataAsOf!);
    const name = part === "registration" ? "Registration" : "Exclusions";
    const date = origin === "sam_gov_api" ? `answered ${exactTime(at)}` : `cut on ${longDay(utcDay(at))}`;
    return { part: name, name: providerName(origin), file, date };
  });
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
interface SourceEvidence extends Pick<Evidence, "origin" | "sources"> {
  readonly createdAt: Date;
}
