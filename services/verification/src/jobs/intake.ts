import { ServiceError } from "@vvs/errors";
import type { HeldKey, IdempotencyStore } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { AddJobRowsRequest, JobRow } from "@vvs/proto/verification/v1/jobs";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Tenant, toProtoTenant } from "@vvs/tenant";
import { Binary, type Db, type MongoClient } from "mongodb";
import { isOpen } from "../open-rows.ts";
import {
  countsOf,
  type JobCollections,
  type JobDocument,
  type RowDocument,
  type RowInput,
  rowId,
  rowsAfter,
} from "./documents.ts";
import { isOpenRepeat } from "./row-counts.ts";

/** Maximum number of rows in a call. */
const MAX_ROWS = 500;
/** Maximum number of rows of an organization that wait for their job's start when a further job begins to be added. */
const MAX_RECEIVED = 100_000;
/** How long rows wait for their job to be started, in milliseconds. */
const INTAKE_MS = 60 * 60_000;
/** How long a started job is kept: 30 days after it has ended, which takes a day at most. */
const KEPT_MS = 31 * 24 * 60 * 60_000;

/** What a started job is to do. */
export type JobTerms = Required<Pick<JobDocument, "total" | "checks" | "mode">> &
  Pick<JobDocument, "max_age_seconds" | "monitor" | "columns">;

/** Takes the rows of new jobs in one environment, and starts them. */
export function createIntake(options: {
  client: MongoClient;
  db: Db;
  collections: JobCollections;
  entities: Pick<Client<typeof EntityService>, "sealTins">;
  idempotency: Pick<IdempotencyStore, "complete">;
  now: () => Date;
}) {
  const { client, collections, entities, now } = options;
  const { jobs, rows } = collections;
  const starts = options.db.collection<{ _id: string; count: number }>("job_starts");

  /** Returns the sealed TIN of each row that has one and is to be verified. */
  async function sealedTins(tenant: Tenant, jobId: string, given: readonly JobRow[]) {
    const withTin = given.filter((row) => row.identifiers?.tin && isVerified(row));
    if (withTin.length === 0) return new Map<number, RowInput["tin"]>();
    const tins = withTin.map(({ identifiers }) => identifiers!.tin);
    const { sealed } = await entities.sealTins({ tenant: toProtoTenant(tenant), jobId, tins });
    return new Map(
      withTin.map(({ row }, index) => [row, { key_id: sealed[index]!.keyId, box: new Binary(sealed[index]!.box) }]),
    );
  }

  return {
    /**
     * Stores rows, of a new job where none is named. Returns the job's id. Errors: job_not_found, invalid_request, too_many_rows
     * (too many rows of the organization wait for their job's start).
     */
    async add(
      caller: CallerContext,
      { jobId, rows: given }: Pick<AddJobRowsRequest, "jobId" | "rows">,
    ): Promise<string> {
      if (given.length > MAX_ROWS)
        throw new ServiceError("invalid_request", { message: `Give at most ${MAX_ROWS} rows.` });
      const { tenant } = caller;
      const at = now();
      const id = jobId || newId("job", at);
      if (!jobId) await expectRoom(tenant);
      else await receive(tenant, jobId, given.length);
      const tins = await sealedTins(tenant, id, given);
      if (!jobId) await jobs.insertOne(newJob(caller, id, { at, received: given.length }));
      const documents = given.map((row) => rowOf(tenant, id, row, tins.get(row.row), at));
      try {
        await rows.insertMany(documents, { ordered: false });
      } catch (error) {
        // A repeated call adds what is not there yet.
        if (!isDuplicateKey(error)) throw error;
      }
      return id;
    },

    /**
     * Starts a job, all or nothing: at most `openRows` rows of the organization's started jobs are open then. Errors: job_not_found,
     * invalid_request (rows are missing), too_many_rows, idempotency_conflict.
     */
    async start(
      tenant: Tenant,
      id: string,
      { terms, openRows, key }: { terms: JobTerms; openRows: number; key: HeldKey | undefined },
    ): Promise<JobDocument> {
      const organization_id = tenant.organizationId;
      if (!(await jobs.findOne(inIntake(tenant, id)))) throw new ServiceError("job_not_found");
      const stored = await rows.countDocuments(rowsAfter(tenant, id));
      const unread = await rows.countDocuments({ ...rowsAfter(tenant, id), result: { $exists: true } });
      if (stored !== terms.total) throw new ServiceError("invalid_request", { message: "Some rows did not arrive." });
      const at = now();
      return inTransaction(client, async (session) => {
        // Of two starts at the same moment one sees the other's rows.
        await starts.updateOne({ _id: organization_id }, { $inc: { count: 1 } }, { session, upsert: true });
        const started = { organization_id, next_at: { $exists: true } };
        const others = await jobs.find(started, { session, projection: { _id: 1 } }).toArray();
        const all = [...others.map(({ _id }) => _id), id];
        const ofAll = { job_id: { $in: all } };
        const repeats = await rows.countDocuments({ ...ofAll, ...isOpenRepeat }, { session });
        const open = repeats + (await rows.countDocuments({ ...ofAll, ...isOpen }, { session }));
        if (open > openRows) {
          const message = `With this job, ${open} rows of your organization would wait for their answer; your plan allows ${openRows}. Wait until earlier jobs have completed, or send fewer rows.`;
          throw new ServiceError("too_many_rows", { message });
        }
        const expires_at = new Date(at.getTime() + KEPT_MS);
        const counts = countsOf({ invalid: unread });
        const $set = { ...terms, unread, counts, status: "queued" as const, created_at: at, next_at: at, expires_at };
        const queued = await jobs.findOneAndUpdate(
          inIntake(tenant, id),
          { $set, $unset: { received: 1 } },
          { session, returnDocument: "after" },
        );
        if (!queued) throw new ServiceError("job_not_found");
        await options.idempotency.complete(session, [{ key, resourceId: id }]);
        return queued;
      });
    },

    /** Removes a job that is not started, with its rows. */
    async discard(tenant: Tenant, id: string): Promise<void> {
      // From now on it can't be started. If this call is interrupted, the job is removed with those past their time.
      const { matchedCount } = await jobs.updateOne(inIntake(tenant, id), { $set: { expires_at: now() } });
      if (matchedCount === 0) return;
      await rows.deleteMany(rowsAfter(tenant, id));
      await jobs.deleteOne({ _id: id });
    },
  };

  function inIntake({ organizationId }: Tenant, id: string) {
    return { _id: id, organization_id: organizationId, status: "intake", expires_at: { $gt: now() } } as const;
  }

  async function receive(tenant: Tenant, id: string, received: number): Promise<void> {
    const { matchedCount } = await jobs.updateOne(inIntake(tenant, id), { $inc: { received } });
    if (matchedCount === 0) throw new ServiceError("job_not_found");
  }

  async function expectRoom({ organizationId }: Tenant): Promise<void> {
    const [found] = await jobs
      .aggregate<{ received: number }>([
        { $match: { organization_id: organizationId, status: "intake" } },
        { $group: { _id: null, received: { $sum: "$received" } } },
      ])
      .toArray();
    if (!found || found.received < MAX_RECEIVED) return;
    const message = `Lists with ${found.received} rows of your organization are being sent at this moment. Wait until they have arrived, and send this one again.`;
    throw new ServiceError("too_many_rows", { message });
  }
}

function newJob(
  { tenant, actor, requestId, createdEntities }: CallerContext,
  id: string,
  { at, received }: { at: Date; received: number },
): JobDocument {
  return {
    _id: id,
    organization_id: tenant.organizationId,
    status: "intake",
    actor,
    request_id: requestId,
    ...(createdEntities && { created_entities: createdEntities }),
    received,
    created_at: at,
    expires_at: new Date(at.getTime() + INTAKE_MS),
  };
}

function rowOf(tenant: Tenant, jobId: string, given: JobRow, tin: RowInput["tin"], at: Date): RowDocument {
  const { row, externalId, entityId, identifiers, legalName, address, sameAs, problems, cells } = given;
  const known = Object.entries({ uei: identifiers?.uei, cage: identifiers?.cage, duns: identifiers?.duns });
  const codes = Object.fromEntries(known.filter(([, value]) => value));
  const isInvalid = problems.length > 0;
  return {
    _id: rowId(jobId, row),
    organization_id: tenant.organizationId,
    job_id: jobId,
    row,
    input: {
      ...(externalId && { external_id: externalId }),
      ...(entityId && { entity_id: entityId }),
      ...(Object.keys(codes).length > 0 && { identifiers: codes }),
      ...(tin && { tin }),
      ...(legalName && { legal_name: legalName }),
      ...(address && { address }),
    },
    ...(cells.length > 0 && { cells }),
    ...(sameAs > 0 && { same_as: sameAs }),
    ...(isInvalid && {
      result: {
        outcome: "invalid",
        decision: "review",
        problems: problems.map(({ path, message }) => ({ path, message })),
      },
    }),
    ...(isVerified(given) && { due_at: at }),
  };
}

/** Returns whether a row is verified itself: it can be read, and repeats no earlier one. */
function isVerified({ problems, sameAs }: JobRow): boolean {
  return problems.length === 0 && sameAs === 0;
}
