import { toJson } from "@bufbuild/protobuf";
import { type GetRegistryRecordResponse, GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import type { Parts } from "@vvs/registration";
import { sortedJson } from "../../evidence/sorted-json.ts";
import type { Question } from "../provider.ts";
import type { ReceivedBody } from "./client.ts";

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
  const used = [parts.registration, parts.exclusions];
  const isUsed = Object.values(kept?.parts ?? {}).some((part) => used.includes(part));
  return isUsed ? kept!.bodies : [];
}

/** Returns the files' records of a vendor, as evidence. */
export function registryFilesJson(files: GetRegistryRecordResponse): object {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  return toJson(GetRegistryRecordResponseSchema, files, options) as object;
}
