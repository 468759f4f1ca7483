import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import type { Answer } from "../provider.ts";

/**
 * Returns the answer with the exclusions that bear the vendor's name in its details, or that they are unknown: the files could not
 * be read, or none lists exclusions. Its verdict does not rest on them.
 */
export function withSameNames(answer: Answer, { sameNames, exclusionsLoad }: RegistryAnswer): Answer {
  if (exclusionsLoad === "") return { ...answer, details: { ...answer.details, same_name_unknown: true } };
  if (sameNames.length === 0) return answer;
  const same_name = sameNames.map(({ name, program, exclusionType: type, agency, activeDate, terminationDate }) => ({
    ...{ name, program, type, agency, active_date: activeDate, termination_date: terminationDate },
  }));
  return { ...answer, details: { ...answer.details, same_name } };
}
