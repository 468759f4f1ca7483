/** A page with a list of items under this name. */
type Page<Name extends string, T> = { readonly next_cursor: string | null } & { readonly [key in Name]: readonly T[] };

/** Iterates over the items of all pages of a list, beginning with the page that the query selects. */
export async function* readAll<Name extends string, Q extends object, T>(
  name: Name,
  query: Q,
  readPage: (query: Q) => Promise<Page<Name, T>>,
): AsyncGenerator<T, void> {
  for (let page: Page<Name, T> | undefined; page?.next_cursor !== null; ) {
    page = await readPage(page ? { ...query, cursor: page.next_cursor } : query);
    yield* page[name];
  }
}
