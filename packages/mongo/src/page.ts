import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { PageRequest, Position } from "@vvs/proto/common/v1/common";
import type { Collection, Document, Filter, WithId } from "mongodb";

export interface Page<T> {
  readonly items: WithId<T>[];
  /** Position at which the next page starts; undefined on the last page. */
  readonly next: { createdAt: ReturnType<typeof timestampFromDate>; id: string } | undefined;
}

const MAX_LIMIT = 100;

/**
 * Returns a page of a list, newest first by the field `time`, ties by id; of each document only what the projection keeps.
 * The filter must contain the tenant, and match only documents that have the field. Lists need an index on the filter, `time`
 * and _id, the last two descending. `idOf` returns the id of documents for that of a position. Errors: invalid_request, those of
 * `idOf`.
 */
export async function findPage<T extends Document, P extends Document = T>(
  collection: Collection<T>,
  filter: Filter<T>,
  page: PageRequest | undefined,
  {
    projection = {},
    time = "created_at",
    idOf = (id) => id,
  }: { projection?: Document; time?: string; idOf?: (id: string) => unknown } = {},
): Promise<Page<P>> {
  const limit = page?.limit ?? 0;
  if (limit < 1 || limit > MAX_LIMIT) {
    throw new ServiceError("invalid_request", { details: [{ path: "limit", message: `must be 1–${MAX_LIMIT}` }] });
  }
  const found = await collection
    .find<WithId<P>>({ $and: [filter, beyond(time, page?.after, idOf)] } as Filter<T>, { projection })
    .sort({ [time]: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last && { createdAt: timestampFromDate(last[time]), id: String(last._id) } };
}

function beyond(time: string, after: Position | undefined, idOf: (id: string) => unknown): Document {
  if (!after) return {};
  if (!after.createdAt) {
    throw new ServiceError("invalid_request", {
      details: [{ path: "after", message: "must be a position in the list" }],
    });
  }
  const at = timestampDate(after.createdAt);
  // The first condition is redundant, but bounds the index: without it each page is read from the beginning of the
  // list.
  return { [time]: { $lte: at }, $or: [{ [time]: { $lt: at } }, { _id: { $lt: idOf(after.id) } }] };
}
