import { inBatches } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import { pause, type SupervisedLoop, superviseLoop } from "@vvs/retry";
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
/** Pause after each batch, so that calls come first. */
const PAUSE_MS = 200;
const ROUND_MS = 10 * 60_000;

/**
 * Calls `work` with the ids of documents past their time, in batches of one organization, oldest first, until all are done or
 * `stopping` is aborted. `filter` selects documents that may go; all of the organization's in `scope` count. Needs an index on
 * organization_id, the fields of `scope`, created_at and _id, the last two descending. Returns the sum of what `work` returns.
 */
export async function forAged<T extends Document & { readonly _id: string }>(
  collection: Collection<T>,
  options: { scope?: Document; filter: Filter<T>; keeping: Keeping; now: Date; stopping: AbortSignal },
  work: (organizationId: string, ids: string[]) => Promise<number>,
): Promise<number> {
  const { scope = {}, filter, keeping, now, stopping } = options;
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

  let sum = 0;
  for (let organizationId = await nextOrganization(""); organizationId; ) {
    const created_at = { $lt: await boundary(organizationId) };
    const found = collection
      .find(
        { ...filter, ...scope, organization_id: organizationId, created_at },
        { projection: { _id: 1 }, batchSize: BATCH },
      )
      .sort({ created_at: 1, _id: 1 });
    for await (const batch of inBatches(found, BATCH)) {
      const ids = batch.map(({ _id }) => _id);
      sum += await work(organizationId, ids);
      await pause(PAUSE_MS, stopping);
      if (stopping.aborted) return sum;
    }
    organizationId = await nextOrganization(organizationId);
  }
  return sum;
}

/** Repeats `round` every ten minutes, and logs how many documents it was. Replicas may do so at the same time. */
export function superviseAging(options: {
  round: (now: Date) => Promise<number>;
  /** The log message of a round that found documents, and the name of their number in it. */
  done: string;
  counted: string;
  /** Log messages, as of `superviseLoop`. */
  failure: string;
  recovery: string;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { round, done, counted, now, logger, ...messages } = options;
  return superviseLoop({
    ...messages,
    async round() {
      const count = await round(now());
      if (count > 0) logger.info({ [counted]: count }, done);
      return ROUND_MS;
    },
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    logger,
  });
}
