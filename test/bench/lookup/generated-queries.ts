import { normalizeName } from "../../../services/entity/src/matching/names/normalize-name.ts";
import { type NameModel, textOf } from "../registry/names.ts";
import { categories, lookAlikes, type NameQuery, queriesOf } from "../registry/queries.ts";

/** A query and the name that it means; undefined if no record has that name. */
export interface GeneratedQuery {
  readonly cat: string;
  readonly q: string;
  readonly wanted: string | undefined;
}

/**
 * Generates queries of each category for a made-up registry. A name is absent if no record has it after normalization,
 * ignoring legal forms.
 */
export function generateQueries(options: {
  names: NameModel;
  seed: number;
  size: number;
  perCategory: number;
}): GeneratedQuery[] {
  const { names, seed, size, perCategory } = options;
  const counts = new Map<string, number>();
  const keys = new Set<string>();
  for (let index = 0; index < size; index++) {
    const name = names.nameAt(index);
    keys.add(normalizeName(textOf(name)).key);
    for (const word of name.core.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const isAbsent = ({ q }: NameQuery) => !keys.has(normalizeName(q).key);
  return [...categories, ...lookAlikes].flatMap((cat) => {
    const made = queriesOf({ cat, count: perCategory, seed, size, names, countOf: (word) => counts.get(word) ?? 0 });
    return [...made]
      .filter((query) => query.id !== null || isAbsent(query))
      .map(({ q, id }) => ({ cat, q, wanted: id === null ? undefined : textOf(names.nameAt(id)) }));
  });
}
