import { valueById } from "@vvs/mongo";
import type { AnyBulkWriteOperation, Document } from "mongodb";

// Rows of jobs without their last answer.

/** Matches open rows. */
export const isOpen = { due_at: { $exists: true } } as const;

/** The fields that only open rows have. */
const ONLY_OPEN = { due_at: 1, waits: 1, was_parked: 1, "input.tin": 1 } as const;

/** Returns the update that gives a row its last answer. */
export function completion(result: object) {
  return { $set: { result }, $unset: ONLY_OPEN } as const;
}

/** A row with its last answer. */
export interface CompletedRow {
  readonly row: { readonly _id: string; readonly organization_id: string };
  readonly result: object;
}

/** Returns the updates that give open rows their last answers: one for each organization. */
export function completions(completed: readonly CompletedRow[]): AnyBulkWriteOperation<Document>[] {
  const byOrganization = Map.groupBy(completed, ({ row }) => row.organization_id);
  return [...byOrganization].map(([organization_id, some]) => {
    const ids = some.map(({ row }) => row._id);
    const own = valueById(
      ids,
      some.map(({ result }) => result),
    );
    const update = [{ $set: { result: own } }, { $unset: Object.keys(ONLY_OPEN) }];
    const filter = { _id: { $in: ids as never[] }, organization_id, ...isOpen };
    return { updateMany: { filter, update, hint: { _id: 1 } } };
  });
}
