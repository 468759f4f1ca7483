import type { NormalizedName } from "../matching/names/normalize-name.ts";
import { createCorpusBuilder, type IndexedEntity } from "./corpus.ts";
import { createNames, type Searcher } from "./names.ts";
import { createSearch, type SearchResult } from "./search.ts";

/** The names of one environment, in memory. */
export interface MatchIndex {
  readonly nameCount: number;
  /** Entities that were put or removed since it was built; many make it slow and large. */
  readonly changes: number;
  /** Entities whose names are most like the one asked for, of those that the searcher may see. */
  search(query: NormalizedName, searcher: Searcher, limit: number): SearchResult;
  /** Takes in an entity that is new or changed. */
  put(entity: IndexedEntity): void;
  remove(id: string): void;
}

export interface MatchIndexBuilder {
  readonly entityCount: number;
  /** Takes an entity in; those of one owner together, the registry's before all. */
  add(entity: IndexedEntity): void;
  finish(): MatchIndex;
}

export function createMatchIndexBuilder(): MatchIndexBuilder {
  const builder = createCorpusBuilder();
  return {
    get entityCount() {
      return builder.entityCount;
    },
    add: builder.add,
    finish() {
      const names = createNames(builder.finish());
      return {
        get nameCount() {
          return names.nameCount;
        },
        get changes() {
          return names.changes;
        },
        search: createSearch(names),
        put: names.put,
        remove: names.remove,
      };
    },
  };
}
