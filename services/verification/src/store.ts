import { notTheEffect } from "@vvs/deadline";
import type { IdempotencyStore } from "@vvs/idempotency";
import { createGroupCommit, type EnvironmentDatabases, findPage, isDuplicateKey } from "@vvs/mongo";
import type { Outbox } from "@vvs/outbox";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import { type Environment, perEnvironment, type Tenant } from "@vvs/tenant";
import type { ClientSession, Db, MongoClient } from "mongodb";
import {
  createReadKnownAnswers,
  type LatestAnswerDocument,
  latestWrites,
  type ReadKnownAnswers,
} from "./checks/latest-answers.ts";
import type { Saving } from "./checks/records.ts";
import type { EvidenceDocument, EvidenceWithContent, VerificationDocument } from "./documents.ts";
import { type EvidenceBodies, sha256Of } from "./evidence/bodies.ts";
import { type KeptDays, keptUntil } from "./kept-until.ts";
import { completions } from "./open-rows.ts";
import { queueCollections } from "./questions/documents.ts";

/** Where a verification is stored. */
interface Destinations extends ReturnType<typeof collectionsOf> {
  readonly outbox: Pick<Outbox, "append">;
  readonly idempotency: Pick<IdempotencyStore, "complete">;
  readonly expiresAt: (verification: VerificationDocument) => Date;
}

/** The run has a verification already. */
export class DuplicateRunError extends Error {
  override readonly name = "DuplicateRunError";
}

/** The job's row has its answer already, or its job is canceled. */
export class RowEndedError extends Error {
  override readonly name = "RowEndedError";
}

/** Returns an environment's collections. */
export function collectionsOf(db: Db) {
  return {
    verifications: db.collection<VerificationDocument>("verifications"),
    evidence: db.collection<EvidenceDocument>("evidence"),
    latestAnswers: db.collection<LatestAnswerDocument>("latest_answers"),
    publicAnswers: queueCollections(db).publicAnswers,
    jobRows: db.collection("job_rows"),
  };
}

export type VerificationStore = ReturnType<typeof createVerificationStore>;

/** Verifications with their evidence and answers. Each method sees only the tenant's own. */
export function createVerificationStore(options: {
  client: MongoClient;
  databases: EnvironmentDatabases;
  outboxes: Readonly<Record<Environment, Outbox>>;
  idempotency: Readonly<Record<Environment, Pick<IdempotencyStore, "complete">>>;
  bodies: Readonly<Record<Environment, EvidenceBodies>>;
  days: KeptDays;
}) {
  const { client, databases, bodies } = options;
  const stores = perEnvironment((environment) => {
    const collections = collectionsOf(databases[environment]);
    const expiresAt = (verification: VerificationDocument) => keptUntil(verification, environment, options.days);
    const [outbox, idempotency] = [options.outboxes[environment], options.idempotency[environment]];
    return {
      ...collections,
      knownAnswers: createReadKnownAnswers(collections),
      save: createGroupCommit<Saving>({
        client,
        write: (session, savings) => write(session, savings, { ...collections, outbox, idempotency, expiresAt }),
      }),
    };
  });
  return {
    /**
     * Stores a verification with its evidence and answers, and publishes it, all or nothing. Bodies of evidence are stored
     * before the transaction, since a body without a record is harmless but a record without its body is not. Verifications
     * that end at the same moment share a transaction. Errors: DuplicateRunError, RowEndedError.
     */
    async save({ environment }: Tenant, saving: Saving): Promise<void> {
      await bodies[environment].put(saving.records.bodies).catch(notTheEffect);
      try {
        await stores[environment].save(saving);
      } catch (cause) {
        if (!isDuplicateKey(cause, "run_record_id")) throw cause;
        throw new DuplicateRunError("the run has a verification already", { cause });
      }
    },
    get: ({ environment, organizationId }: Tenant, id: string): Promise<VerificationDocument | null> =>
      stores[environment].verifications.findOne({ organization_id: organizationId, _id: id }),
    /** Returns those that there are, in no order. */
    getMany: ({ environment, organizationId }: Tenant, ids: readonly string[]): Promise<VerificationDocument[]> =>
      stores[environment].verifications.find({ organization_id: organizationId, _id: { $in: [...ids] } }).toArray(),
    /** Returns evidence without content, of what there is, in no order. */
    evidenceOf: ({ environment, organizationId }: Tenant, ids: readonly string[]) =>
      stores[environment].evidence
        .find({ organization_id: organizationId, _id: { $in: [...ids] } })
        .project<Pick<EvidenceDocument, "_id" | "sha256" | "sources">>({ sha256: 1, sources: 1 })
        .toArray(),
    /** Returns a page, newest first; only those of one entity where `entityId` is not empty, and only those in the period. */
    list(
      { environment, organizationId }: Tenant,
      { entityId, from, before }: { entityId: string; from: Date | undefined; before: Date | undefined },
      page: PageRequest | undefined,
    ) {
      const created_at = { ...(from && { $gte: from }), ...(before && { $lt: before }) };
      const filter = {
        organization_id: organizationId,
        ...(entityId && { entity_id: entityId }),
        ...((from || before) && { created_at }),
      };
      return findPage(stores[environment].verifications, filter, page);
    },
    /** Returns evidence with its content. */
    async evidence({ environment, organizationId }: Tenant, id: string): Promise<EvidenceWithContent | null> {
      const found = await stores[environment].evidence.findOne({ organization_id: organizationId, _id: id });
      return found && { ...found, content: await contentOf(found, bodies[environment]) };
    },
    /** Calls at the same moment share a database command. */
    knownAnswers: ((tenant, ...asked) => stores[tenant.environment].knownAnswers(tenant, ...asked)) as ReadKnownAnswers,
    /** Returns true where the verification that a monitor's record requests exists already. */
    async hasRun({ environment, organizationId }: Tenant, recordId: string): Promise<boolean> {
      const filter = { organization_id: organizationId, run_record_id: recordId };
      return (await stores[environment].verifications.findOne(filter, { projection: { _id: 1 } })) !== null;
    },
  };
}

/** Returns a record's content. Errors: those of the stores; Error where the content is missing or differs from its hash. */
async function contentOf(
  { content, content_bytes, sha256 }: EvidenceDocument,
  bodies: Pick<EvidenceBodies, "get">,
): Promise<string> {
  if (content !== undefined || content_bytes === 0) return content ?? "";
  const bytes = await bodies.get(sha256);
  if (!bytes) throw new Error("the content of evidence is missing");
  if (sha256Of(bytes) !== sha256) throw new Error("the content of evidence differs from its hash");
  return Buffer.from(bytes).toString("utf8");
}

async function write(
  session: ClientSession,
  savings: readonly Saving[],
  { verifications, evidence, latestAnswers, outbox, idempotency, jobRows, expiresAt }: Destinations,
): Promise<void> {
  const rows = savings.flatMap(({ row }) => row ?? []);
  if (rows.length > 0) {
    const { matchedCount } = await jobRows.bulkWrite(completions(rows), { session, ordered: false });
    if (matchedCount < rows.length) throw new RowEndedError("a job's row has ended already");
  }
  const [first, ...others] = savings.map(({ records: { verification } }) => ({
    ...verification,
    expires_at: expiresAt(verification),
  }));
  // The driver says which index refused an insert only for a single one.
  if (others.length === 0) await verifications.insertOne(first!, { session });
  else await verifications.insertMany([first!, ...others], { session });
  const newEvidence = savings.flatMap(({ records }) => records.evidence);
  if (newEvidence.length > 0) await evidence.insertMany(newEvidence, { session });
  const newAnswers = savings.flatMap(({ records }) => records.answers);
  if (newAnswers.length > 0) {
    const withdrawnLoads = savings.flatMap(({ records }) => records.withdrawnLoads);
    // An insertion of an answer that another call stored meanwhile fails. Then each gets a transaction of its own, which updates.
    const firsts = others.length > 0 ? savings.flatMap(({ row, records }) => (row ? records.firsts : [])) : [];
    await latestAnswers.bulkWrite(latestWrites(newAnswers, withdrawnLoads, firsts), { session, ordered: true });
  }
  await outbox.append(session, ...savings.map(({ completed }) => completed));
  await idempotency.complete(
    session,
    savings.map(({ key, records }) => ({ key, resourceId: records.verification._id })),
  );
  for (const { complete } of savings) await complete?.(session);
}
