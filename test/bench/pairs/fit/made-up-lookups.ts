import { compareNames, type NameFeatures } from "../../../../services/entity/src/matching/names/compare-names.ts";
import { createIdf } from "../../../../services/entity/src/matching/names/idf.ts";
import { normalizeName } from "../../../../services/entity/src/matching/names/normalize-name.ts";
import { createMatchIndexBuilder } from "../../../../services/entity/src/name-index/name-index.ts";
import { nameKey } from "../../lookup/same-name.ts";
import { createNameModel, textOf } from "../../registry/names.ts";
import { categories, queriesOf } from "../../registry/queries.ts";

const NAMES = 100_000;
const QUERIES_PER_CATEGORY = 150;
const WRONG_PER_QUERY = 2;
const HITS = 12;

/** Compares names as people type them with a made-up registry's: the one that is meant and the nearest others. */
export function madeUpLookups(seed: number): { features: NameFeatures; isMatch: boolean }[] {
  const model = createNameModel(seed);
  const builder = createMatchIndexBuilder();
  const counts = new Map<string, number>();
  const names = Array.from({ length: NAMES }, (_, index) => textOf(model.nameAt(index)));
  for (const [index, name] of names.entries()) {
    builder.add({ id: idOf(index), owner: null, names: [name] });
    for (const word of name.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const index = builder.finish();
  const countOf = (word: string) => counts.get(word) ?? 0;
  return categories.flatMap((cat) =>
    [...queriesOf({ cat, count: QUERIES_PER_CATEGORY, seed, size: NAMES, names: model, countOf })].flatMap(
      ({ q, id }) => {
        const query = normalizeName(q);
        const found = index.search(query, "", HITS);
        const idf = createIdf({ nameCount: found.nameCount, namesWith: (word) => found.counts.get(word) ?? 0 });
        const compare = (name: string) => compareNames(query, normalizeName(name), idf).features;
        const meant = id === null ? undefined : names[id]!;
        const wrong = found.hits
          .map((hit) => names[indexOf(hit.id)]!)
          .filter((name) => meant === undefined || nameKey(name) !== nameKey(meant))
          .map((name) => ({ features: compare(name), isMatch: false }))
          // Names that differ only in the legal form, or not at all, don't show different organizations.
          .filter(({ features }) => features.contradiction + features.omission + features.doubt > 0.05)
          .slice(0, WRONG_PER_QUERY);
        return meant === undefined ? wrong : [...wrong, { features: compare(meant), isMatch: true }];
      },
    ),
  );
}

function idOf(index: number): string {
  return `ent_${String(index).padStart(26, "0")}`;
}

function indexOf(id: string): number {
  return Number(id.slice("ent_".length));
}
