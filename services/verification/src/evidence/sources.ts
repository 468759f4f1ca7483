import type { AnswerSource, EvidenceWithContent } from "../documents.ts";

interface Files {
  readonly registry_file?: string;
  readonly exclusions_file?: string;
}

/** What content held of its sources before they were stored beside it. */
interface EarlierContent extends Files {
  readonly rests_on?: Partial<
    Readonly<Record<AnswerSource["part"], { readonly origin: string; readonly date: string }>>
  >;
  /** The files beside an answer of the API; their names are members of the content itself where there are only files. */
  readonly files?: Files;
}

/** Returns where the parts of an answer about a registration are from; of other answers, and of none, nothing. */
export function sourcesOfEvidence({ check_type, content, ...evidence }: EvidenceWithContent): readonly AnswerSource[] {
  if (evidence.sources) return evidence.sources;
  if (check_type !== "sam_registration" || content === "") return [];
  const { rests_on = {}, files, ...members } = JSON.parse(content) as EarlierContent;
  const { registry_file: sam_gov_extract, exclusions_file: sam_gov_exclusions } = files ?? members;
  const named: Readonly<Record<string, string | undefined>> = { sam_gov_extract, sam_gov_exclusions };
  return (["registration", "exclusions"] as const).flatMap((part) => {
    const from = rests_on[part];
    const file = from && named[from.origin];
    return from ? { part, origin: from.origin, date: new Date(from.date), ...(file && { file }) } : [];
  });
}
