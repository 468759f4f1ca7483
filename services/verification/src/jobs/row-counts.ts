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

/** Gives rows that repeat an earlier one its result, once that has its last answer. */
export async function copyToSameRows({ rows }: JobCollections, { _id, organization_id }: JobKey): Promise<void> {
  const unanswered = { job_id: _id, organization_id, same_as: { $exists: true }, result: { $exists: false } };
  const repeats = await rows.find(unanswered, { projection: { same_as: 1 } }).toArray();
  if (repeats.length === 0) return;
  const numbers = [...new Set(repeats.map(({ same_as }) => same_as!))];
  const ended = {
    job_id: _id,
    organization_id,
    row: { $in: numbers },
    due_at: { $exists: false },
    result: { $exists: true },
  };
  const ofJob = rowsAfter({ organizationId: organization_id }, _id);
  const firsts = await rows.find({ ...ofJob, ...ended }, { projection: { row: 1, result: 1 } }).toArray();
  if (firsts.length === 0) return;
  await rows.bulkWrite(
    firsts.map(({ row, result }) => ({
      updateMany: { filter: { ...unanswered, same_as: row }, update: { $set: { result: result! } } },
    })),
    { ordered: false },
  );
}
