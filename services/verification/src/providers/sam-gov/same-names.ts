import type { GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import type { Answer, Question } from "../provider.ts";
import { type RegistryReader, readRegistry } from "./registry-reader.ts";

/**
 * Returns the answer with the exclusions that bear the vendor's name in its details, or that they are unknown: the files could not
 * be read, or none lists exclusions. Its verdict does not rest on them.
 */
export function withSameNames(answer: Answer, { sameNames, exclusionsLoad }: GetRegistryRecordResponse): Answer {
  if (exclusionsLoad === "") return { ...answer, details: { ...answer.details, same_name_unknown: true } };
  if (sameNames.length === 0) return answer;
  const same_name = sameNames.map(({ name, program, exclusionType: type, agency, activeDate, terminationDate }) => ({
    ...{ name, program, type, agency, active_date: activeDate, termination_date: terminationDate },
  }));
  return { ...answer, details: { ...answer.details, same_name } };
}

/**
 * Returns the files with the exclusions that bear the name with which SAM.gov registers the vendor, where they were not looked up
 * by it: it is neither the question's nor the files' record's, or the question has none. Errors: service_unavailable.
 */
export async function withRegisteredName(
  files: GetRegistryRecordResponse,
  { entities, question, registered }: { entities: RegistryReader; question: Question; registered: string },
  signal: AbortSignal,
): Promise<GetRegistryRecordResponse> {
  if (entities.readsNames === false) return files;
  const { legalName } = question;
  if (["", legalName, ...(legalName && [files.record?.legalName])].includes(registered)) return files;
  const names = [registered, files.record?.legalName ?? ""];
  const { sameNames } = await readRegistry(entities, question, signal, names);
  return { ...files, sameNames };
}
