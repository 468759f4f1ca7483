import { toJson } from "@bufbuild/protobuf";
import { type GetRegistryRecordResponse, GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { sortedJson } from "../../evidence/sorted-json.ts";
import type { Answer, Provider } from "../provider.ts";
import { filePartsOf, partsOnFile } from "./file-parts.ts";
import { answerFrom, judge, staleSource } from "./judge.ts";
import { type RegistryReader, readRegistry } from "./registry-reader.ts";

/**
 * Creates the provider that answers from SAM.gov's public extract and exclusions file, which the entity service has
 * loaded. Newer parts of the organization's stored answer are preferred. It throws `stale_source` where the files do not
 * suffice, or do not mention the vendor. The evidence is the files' records of the vendor, their names and cut dates, and
 * the parts that the answer rests on.
 */
export function createSamGovExtract(options: {
  entities: RegistryReader;
  /** SAM.gov's API is configured as well. */
  hasApi: boolean;
  now: () => Date;
}): Provider {
  return {
    name: "sam_gov_extract",
    check: "sam_registration",
    async ask(question, { signal }): Promise<Answer> {
      const files = await readRegistry(options.entities, question, signal);
      const now = options.now();
      if (Object.keys(filePartsOf(files, now).parts).length === 0) throw staleSource();
      const parts = partsOnFile(files, question.stored, now);
      const verdict = judge(parts, { now, hasApi: options.hasApi });
      const answer = answerFrom(parts, verdict, sortedJson({ ...registryFilesJson(files), rests_on: parts }));
      return { ...answer, withdrawnLoads: files.withdrawnLoads };
    },
  };
}

/** Returns the files' records of a vendor, as evidence. */
export function registryFilesJson(files: GetRegistryRecordResponse): object {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  return toJson(GetRegistryRecordResponseSchema, files, options) as object;
}
