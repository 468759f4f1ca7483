/** Iterates over the items of all pages of a list, beginning with the page that the query selects. */
export async function* readAll<Q extends object, P extends { next_cursor: string | null }, T>(
  query: Q,
  readPage: (query: Q) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
): AsyncGenerator<T, void> {
  for (let page: P | undefined; page?.next_cursor !== null; ) {
    page = await readPage(page ? { ...query, cursor: page.next_cursor } : query);
    yield* itemsOf(page);
  }
}
