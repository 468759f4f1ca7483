import type { NormalizedName } from "../matching/names/normalize-name.ts";
import { type CorpusBuilder, createCorpusBuilder } from "./corpus.ts";
import { createNames, type Names } from "./names.ts";
import { createSearch, type SearchResult } from "./search.ts";

/** The names of one environment, in memory. Many changes make it slow and large. */
export interface MatchIndex extends Pick<Names, "nameCount" | "changes" | "put" | "remove"> {
  /** Returns the entities with the most similar names among those visible to an organization. */
  search(query: NormalizedName, organizationId: string, limit: number): SearchResult;
}

export function createMatchIndexBuilder(): Pick<CorpusBuilder, "add"> & { finish(): MatchIndex } {
  const builder = createCorpusBuilder();
  return {
    add: builder.add,
    finish() {
      const names = createNames(builder.finish());
      return Object.assign(names, { search: createSearch(names) });
    },
  };
}
