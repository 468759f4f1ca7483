import type { Collection, Document, Filter } from "mongodb";

/** How long documents of the sandbox are kept. */
export interface Keeping {
  /** Older ones go. */
  readonly days: number;
  /** Number that an organization has at most; beyond it the oldest go, but none younger than a day. */
  readonly newest: number;
}

const DAY_MS = 86_400_000;
const BATCH = 500;

/**
 * Yields the ids of documents past their time, in batches of one organization, oldest first. `filter` selects documents
 * that may go; all of the organization's in `scope` count. Needs an index on organization_id, the fields of `scope`,
 * created_at and _id, the last two descending.
 */
export async function* agedBatches<T extends Document & { readonly _id: string }>(
  collection: Collection<T>,
  { scope = {}, filter, keeping, now }: { scope?: Document; filter: Filter<T>; keeping: Keeping; now: Date },
): AsyncGenerator<{ readonly organizationId: string; readonly ids: readonly string[] }> {
  const documents = collection as unknown as Collection<{ _id: string; organization_id: string; created_at: Date }>;
  const age = (days: number) => new Date(now.getTime() - days * DAY_MS);

  async function nextOrganization(after: string): Promise<string | undefined> {
    const next = { projection: { organization_id: 1 }, sort: { organization_id: 1 } } as const;
    return (await documents.findOne({ organization_id: { $gt: after }, ...scope }, next))?.organization_id;
  }

  /** Returns the time before which the organization's documents go. Those of the same millisecond stay together. */
  async function boundary(organization_id: string): Promise<Date> {
    const oldest = {
      projection: { created_at: 1 },
      sort: { created_at: -1, _id: -1 },
      skip: keeping.newest - 1,
    } as const;
    const last = await documents.findOne({ organization_id, ...scope }, oldest);
    const times = [age(keeping.days), ...(last ? [last.created_at] : [])].map(Number);
    return new Date(Math.min(Math.max(...times), Number(age(1))));
  }

  for (let organizationId = await nextOrganization(""); organizationId; ) {
    const created_at = { $lt: await boundary(organizationId) };
    const found = collection
      .find(
        { ...filter, ...scope, organization_id: organizationId, created_at },
        { projection: { _id: 1 }, batchSize: BATCH },
      )
      .sort({ created_at: 1, _id: 1 });
    let ids: string[] = [];
    for await (const { _id } of found) {
      ids.push(_id);
      if (ids.length < BATCH) continue;
      yield { organizationId, ids };
      ids = [];
    }
    if (ids.length > 0) yield { organizationId, ids };
    organizationId = await nextOrganization(organizationId);
  }
}
