import { rowOutcomes } from "@vvs/jobs";
import {
  countsOf,
  type JobCollections,
  type JobCounts,
  type JobDocument,
  type RowResult,
  rowsAfter,
} from "./documents.ts";

type JobKey = Pick<JobDocument, "_id" | "organization_id">;

/** Returns the numbers of a job's rows by outcome and decision. */
export async function countRows({ rows }: JobCollections, { _id, organization_id }: JobKey): Promise<JobCounts> {
  const found = await rows
    .aggregate<{ _id: Pick<RowResult, "outcome" | "decision">; count: number }>([
      { $match: rowsAfter({ organizationId: organization_id }, _id) },
      { $match: { result: { $exists: true } } },
      { $group: { _id: { outcome: "$result.outcome", decision: "$result.decision" }, count: { $sum: 1 } } },
    ])
    .toArray();
  const counts: Record<keyof JobCounts, number> = { ...countsOf({}) };
  for (const { _id: by, count } of found) {
    counts[by.outcome] += count;
    if (by.decision !== "review") counts[by.decision] += count;
  }
  return counts;
}

/** Returns the number of rows that have their last answer. */
export function doneOf(counts: JobCounts): number {
  return rowOutcomes.reduce((sum, outcome) => (outcome === "waiting" ? sum : sum + counts[outcome]), 0);
}

/** Matches rows that repeat an earlier one, and have no last answer yet. */
export const isOpenRepeat = { same_as: { $exists: true }, "result.outcome": { $in: [null, "waiting"] } } as object;

/** Gives rows that repeat an earlier one its result: its last answer, or that it waits. */
export async function copyToSameRows({ rows }: JobCollections, { _id, organization_id }: JobKey): Promise<void> {
  const ofJob = { job_id: _id, organization_id };
  const repeats = { ...ofJob, ...isOpenRepeat };
  const open = await rows.find(repeats, { projection: { same_as: 1 } }).toArray();
  if (open.length === 0) return;
  const numbers = [...new Set(open.map(({ same_as }) => same_as!))];
  const answered = {
    ...rowsAfter({ organizationId: organization_id }, _id),
    row: { $in: numbers },
    result: { $exists: true },
  };
  const firsts = await rows.find(answered, { projection: { row: 1, result: 1 } }).toArray();
  if (firsts.length === 0) return;
  await rows.bulkWrite(
    firsts.map(({ row, result }) => {
      const isNew = result!.outcome === "waiting" ? { result: { $exists: false } } : {};
      return {
        updateMany: { filter: { ...repeats, ...isNew, same_as: row }, update: { $set: { result: result! } } },
      };
    }),
    { ordered: false },
  );
}
