import { toJson } from "@bufbuild/protobuf";
import {
  ExcludedNameSchema,
  ExclusionSchema,
  type RegistryAnswer,
  RegistryRecordSchema,
} from "@vvs/proto/entity/v1/entity";
import type { PartSource, Parts } from "@vvs/registration";
import type { AnswerSource } from "../../documents.ts";
import type { ReceivedBody } from "../../questions/question.ts";
import type { Question } from "../provider.ts";
import { sortedJson } from "../sorted-json.ts";

/**
 * Returns evidence as one JSON document: what was received, each body byte for byte, so that no parser loses anything, and
 * other members.
 */
export function evidenceOf(bodies: readonly ReceivedBody[], more: object): string {
  const answers = bodies.map(
    ({ url, receivedAt, text }) =>
      `{"url":${JSON.stringify(url)},"received_at":${JSON.stringify(receivedAt.toISOString())},"body":${text.trim()}}`,
  );
  return `{"answers":[${answers.join(",")}],${sortedJson(more).slice(1)}`;
}

/** Returns the bodies of the kept answer, where an answer rests on parts of it that no evidence of the organization holds. */
export function keptBodiesOf(parts: Parts, { kept }: Pick<Question, "kept">): readonly ReceivedBody[] {
  // The same object, unless it has got rows of a file.
  const used = [parts.registration?.date, parts.exclusions?.date];
  const isUsed = Object.values(kept?.parts ?? {}).some(({ date }) => used.includes(date));
  return isUsed ? kept!.bodies : [];
}

/**
 * Returns the files' rows of a vendor, as evidence. What each new file changes although it says the same of the vendor is
 * left out: names and cut dates are in `sourcesOf`, and a row that the newest file lists is as of that.
 */
export function fileRowsJson({ record, exclusions, endedExclusions, sameNames }: RegistryAnswer): object {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  const rows = (list: typeof exclusions) => list.map((row) => toJson(ExclusionSchema, row, options) as object);
  return {
    ...(record && { record: toJson(RegistryRecordSchema, record, options) }),
    exclusions: rows(exclusions).map((row) => ({ ...row, last_seen: undefined })),
    ended_exclusions: rows(endedExclusions),
    ...(sameNames.length > 0 && { same_names: sameNames.map((row) => toJson(ExcludedNameSchema, row, options)) }),
  };
}

/** Returns the parts of an answer that are not in the loaded files' rows: those of an earlier or of the kept answer. */
export function earlierPartsOf(parts: Parts): Parts {
  return Object.fromEntries(
    Object.entries(parts).filter(([, { origin, evidence_id }]) => origin === "sam_gov_api" || evidence_id),
  );
}

/** The SHA-256 in the id of a load, such as `registry:<sha256>`. */
const FILE_HASH = /(?<=^[a-z]+:)[0-9a-f]{64}$/;

/** Returns where the parts of an answer are from, with the names of the loaded files and the hashes of all files. */
export function sourcesOf(parts: Parts, files: RegistryAnswer): AnswerSource[] {
  const named = { [files.registryLoad]: files.registryFile, [files.exclusionsLoad]: files.exclusionsFile };
  return Object.entries(parts as Record<keyof Parts, PartSource>).map(([part, { origin, date, load }]) => {
    const [sha256] = FILE_HASH.exec(load ?? "") ?? [];
    return {
      part: part as keyof Parts,
      ...{ origin, date },
      ...(load && named[load] && { file: named[load] }),
      ...(sha256 && { sha256 }),
    };
  });
}
