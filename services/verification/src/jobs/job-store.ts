import { ServiceError } from "@vvs/errors";
import type { Decision, RowOutcome } from "@vvs/jobs";
import { findPage } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { isOpen } from "../open-rows.ts";
import type { ParkingPlace } from "../runs/monitor-runs.ts";
import {
  countsOf,
  type JobCollections,
  type JobCounts,
  type JobDocument,
  KEPT_AFTER_END_MS,
  type RowDocument,
  rowsAfter,
  whileOpen,
} from "./documents.ts";
import { copyToSameRows, countRows } from "./row-counts.ts";

/** A started job with the numbers of its rows by outcome. */
export interface CountedJob {
  readonly job: JobDocument;
  readonly counts: JobCounts;
}

/** Asks for rows after one, with this outcome and this decision where they are given; `wholeRows` as in the contract. */
interface ResultsQuery {
  readonly outcome: RowOutcome | undefined;
  readonly decision?: Decision | undefined;
  readonly afterRow: number;
  readonly limit: number;
  readonly wholeRows?: boolean;
}

const isStarted = { status: { $ne: "intake" } } as const;

/** Reads and cancels the started jobs of one environment. Each method sees only the tenant's own. */
export function createJobStore(options: {
  collections: JobCollections;
  /** Where rows wait for SAM.gov's API; undefined where it is not used. */
  parking: () => Pick<ParkingPlace, "leaveRows"> | undefined;
  now: () => Date;
}) {
  const { collections, parking, now } = options;
  const { jobs, rows } = collections;
  const counted = async (job: JobDocument): Promise<CountedJob> => ({
    job,
    counts: job.counts ?? (await countRows(collections, job)),
  });

  /** Returns a started job. Errors: job_not_found. */
  async function get({ organizationId }: Tenant, id: string): Promise<JobDocument> {
    const found = await jobs.findOne({ _id: id, organization_id: organizationId, ...isStarted });
    if (!found) throw new ServiceError("job_not_found");
    return found;
  }

  return {
    counted,
    get: async (tenant: Tenant, id: string) => counted(await get(tenant, id)),

    /** Returns a job as the answer to its start said. Errors: job_not_found. */
    async asStarted(tenant: Tenant, id: string): Promise<CountedJob> {
      const { completed_at: _completed, results_updated_at: _updated, ...job } = await get(tenant, id);
      return { job: { ...job, status: "queued" }, counts: countsOf({ invalid: job.unread ?? 0 }) };
    },

    /** Returns a page of jobs, newest first. */
    async list({ organizationId }: Tenant, page: PageRequest | undefined) {
      const { items, next } = await findPage(jobs, { organization_id: organizationId, ...isStarted } as object, page);
      return { jobs: await Promise.all(items.map(counted)), next };
    },

    /** Returns rows in the order given, without their cells if not asked for: at most `limit` after a row. Errors: job_not_found. */
    async results(
      tenant: Tenant,
      id: string,
      { outcome, decision, afterRow, limit, wholeRows = false }: ResultsQuery,
    ): Promise<{ found: RowDocument[]; isLast: boolean }> {
      await get(tenant, id);
      const wanted = {
        ...((!wholeRows || outcome || decision) && { "result.outcome": outcome ?? { $exists: true } }),
        ...(decision && { "result.decision": decision }),
      };
      const found = await rows
        .find(
          { ...rowsAfter(tenant, id, afterRow), ...wanted } as object,
          wholeRows ? {} : { projection: { cells: 0 } },
        )
        .sort({ _id: 1 })
        .limit(limit + 1)
        .toArray();
      return { found: found.slice(0, limit), isLast: found.length <= limit };
    },

    /**
     * Cancels a job: what is done stays, and what has not begun is left undone. Repeatable. Errors: job_not_found, job_finished.
     */
    async cancel(tenant: Tenant, id: string): Promise<CountedJob> {
      const { organizationId: organization_id } = tenant;
      const at = now();
      const open = { _id: id, organization_id, next_at: { $exists: true } };
      const $set = {
        status: "canceled",
        completed_at: at,
        expires_at: new Date(at.getTime() + KEPT_AFTER_END_MS),
      } as const;
      const canceled = await jobs.findOneAndUpdate(open, { $set, $unset: { next_at: 1, lease: 1 } });
      const job = await get(tenant, id);
      if (!canceled && job.status === "completed") throw new ServiceError("job_finished");
      // Also where an earlier call was interrupted here.
      const left = { job_id: id, organization_id, ...isOpen };
      await rows.updateMany(left, { $unset: { due_at: 1, "input.tin": 1, result: 1 } });
      const repeats = { job_id: id, organization_id, same_as: { $exists: true }, "result.outcome": "waiting" };
      await rows.updateMany(repeats as object, { $unset: { result: 1 } });
      await parking()?.leaveRows(organization_id, id);
      // Otherwise a replica that works on the job may do so after they are counted.
      await copyToSameRows(collections, job);
      const counts = await countRows(collections, job);
      await jobs.updateOne({ _id: id, organization_id }, { $set: { counts } });
      return { job, counts };
    },

    /** Makes a row due that has waited for SAM.gov's API. */
    async wake({ rowId, organizationId: organization_id }: { rowId: string; organizationId: string }): Promise<void> {
      const at = now();
      const [jobId] = rowId.split(":") as [string];
      const row = whileOpen({ _id: rowId, organization_id });
      await rows.updateOne(row, { $set: { due_at: at, was_parked: true } });
      await advance(collections, { _id: jobId, organization_id }, at);
    },

    /** Removes jobs past their time with their rows. */
    async removeAged(): Promise<void> {
      for await (const { _id, organization_id: organizationId } of jobs.find({ expires_at: { $lte: now() } })) {
        await rows.deleteMany(rowsAfter({ organizationId }, _id));
        await jobs.deleteOne({ _id });
      }
    },
  };
}

/** Lets a job that has not ended be worked on at a time, unless it may be earlier. */
export async function advance(
  { jobs }: Pick<JobCollections, "jobs">,
  { _id, organization_id }: Pick<JobDocument, "_id" | "organization_id">,
  at: Date,
): Promise<void> {
  await jobs.updateOne({ _id, organization_id, next_at: { $exists: true } }, { $min: { next_at: at } });
}
