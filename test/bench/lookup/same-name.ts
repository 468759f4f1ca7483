import { normalizeName } from "../../../services/entity/src/matching/names/normalize-name.ts";

/** Equal for names that only spelling tells apart: records of such names are a tie. */
export function nameKey(name: string): string {
  const { key, legalForms } = normalizeName(name);
  return `${key} ${legalForms.join(" ")}`;
}
