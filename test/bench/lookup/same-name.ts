import { normalizeName } from "../../../services/entity/src/matching/names/normalize-name.ts";

/** Returns a key that is equal for names that differ only in spelling: records with such names are a tie. */
export function nameKey(name: string): string {
  const { key, legalForms } = normalizeName(name);
  return `${key} ${legalForms.join(" ")}`;
}
