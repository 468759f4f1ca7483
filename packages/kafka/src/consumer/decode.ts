import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { ConsumedRecord } from "../record.ts";

/** The record has no value, or its bytes are not the topic's message. */
export class UndecodableError extends Error {
  override readonly name = "UndecodableError";
}

/** Returns the record's message, or an error that says why it can't be decoded. */
export function decode<Desc extends DescMessage>(
  schema: Desc,
  record: ConsumedRecord,
): MessageShape<Desc> | UndecodableError {
  if (!record.value) return new UndecodableError("the record has no value");
  try {
    return fromBinary(schema, record.value);
  } catch (cause) {
    return new UndecodableError(`the record is not a ${schema.typeName}`, { cause });
  }
}
