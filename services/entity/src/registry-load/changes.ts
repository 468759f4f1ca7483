import { isDeepStrictEqual } from "node:util";
import type { PublicEntity } from "../model/documents.ts";

/** The fields of the public view in which two versions differ, as `legal_name`, `sam_gov.cage`; the sources never count. */
export function changedFields(before: PublicEntity, after: PublicEntity): string[] {
  const fields: string[] = [];
  if (before.legal_name !== after.legal_name) fields.push("legal_name");
  for (const group of ["identifiers", "sam_gov"] as const) {
    const [old, current] = [before[group], after[group]] as Readonly<Record<string, string | undefined>>[];
    const names = new Set([...Object.keys(old!), ...Object.keys(current!)]);
    for (const name of names) if (old![name] !== current![name]) fields.push(`${group}.${name}`);
  }
  if (!isDeepStrictEqual(before.addresses, after.addresses)) fields.push("addresses");
  return fields;
}
