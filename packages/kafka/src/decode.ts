import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { ConsumedRecord } from "./record.ts";

export class UndecodableError extends Error {
  override readonly name = "UndecodableError";
}

export function decode<Desc extends DescMessage>(
  schema: Desc,
  record: ConsumedRecord,
): MessageShape<Desc> | UndecodableError {
  if (!record.value) return new UndecodableError("the record has no value");
  try {
    return fromBinary(schema, record.value);
  } catch (cause) {
    return new UndecodableError(`the record is no ${schema.typeName}`, { cause });
  }
}
