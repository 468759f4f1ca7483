import type { GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import type { Answer, Question } from "../provider.ts";
import { type RegistryReader, readRegistry } from "./registry-reader.ts";

/** Returns the answer with the exclusions that bear the vendor's name in its details. Its verdict does not rest on them. */
export function withSameNames(answer: Answer, { sameNames }: GetRegistryRecordResponse): Answer {
  if (sameNames.length === 0) return answer;
  const same_name = sameNames.map(({ name, program, exclusionType: type, agency, activeDate, terminationDate }) => ({
    ...{ name, program, type, agency, active_date: activeDate, termination_date: terminationDate },
  }));
  return { ...answer, details: { ...answer.details, same_name } };
}

/**
 * Returns the files with the exclusions that bear the name with which SAM.gov's API registers the vendor, where it is neither that
 * of the question nor that of the files' record. Errors: service_unavailable.
 */
export async function withRegisteredName(
  files: GetRegistryRecordResponse,
  { entities, question, registered }: { entities: RegistryReader; question: Question; registered: string },
  signal: AbortSignal,
): Promise<GetRegistryRecordResponse> {
  if (["", question.legalName, files.record?.legalName].includes(registered)) return files;
  const names = [registered, files.record?.legalName ?? ""];
  const { sameNames } = await readRegistry(entities, question, signal, names);
  return { ...files, sameNames };
}
