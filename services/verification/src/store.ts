import { notTheEffect } from "@vvs/deadline";
import { createGroupCommit, type EnvironmentDatabases, findPage, isDuplicateKey, type Page } from "@vvs/mongo";
import { type Outbox, type OutboxRecord, withActiveTrace } from "@vvs/outbox";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import { type Environment, environments, type Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { VerificationRecords } from "./checks/records.ts";
import { createReadNewestAnswer, type ReadNewestAnswer } from "./checks/stored-answers.ts";
import type { AnswerDocument, EvidenceDocument, EvidenceWithContent, VerificationDocument } from "./documents.ts";
import { type EvidenceBodies, sha256Of } from "./evidence/bodies.ts";

/** Verifications with their evidence and answers. Each method sees only the tenant's own. */
export interface VerificationStore {
  /**
   * Stores a verification with its evidence and answers, and publishes it, all or nothing. Bodies of evidence are stored
   * before the transaction, since a body without a record is harmless but a record without its body is not. `complete`
   * writes into the same transaction, which verifications that end at the same moment share. Errors: DuplicateRunError.
   */
  save(
    tenant: Tenant,
    records: VerificationRecords,
    completed: OutboxRecord,
    complete: (session: ClientSession) => Promise<void>,
  ): Promise<void>;
  get(tenant: Tenant, id: string): Promise<VerificationDocument | null>;
  /** Returns a page, newest first; only those of one entity where `entityId` is not empty. */
  list(tenant: Tenant, entityId: string, page: PageRequest | undefined): Promise<Page<VerificationDocument>>;
  /** Returns evidence with its content; null for expired evidence. */
  evidence(tenant: Tenant, id: string): Promise<EvidenceWithContent | null>;
  /** Calls at the same moment share a database command. */
  readonly newestAnswer: ReadNewestAnswer;
  /** Returns true where the verification that a monitor's record requests exists already. */
  hasRun(tenant: Tenant, recordId: string): Promise<boolean>;
}

/** The run has a verification already. */
export class DuplicateRunError extends Error {
  override readonly name = "DuplicateRunError";
}

/** Returns an environment's collections. */
export function collectionsOf(databases: EnvironmentDatabases, environment: Environment) {
  const db = databases[environment];
  return {
    verifications: db.collection<VerificationDocument>("verifications"),
    evidence: db.collection<EvidenceDocument>("evidence"),
    answers: db.collection<AnswerDocument>("answers"),
  };
}

export function createVerificationStore(options: {
  client: MongoClient;
  databases: EnvironmentDatabases;
  outboxes: Readonly<Record<Environment, Outbox>>;
  bodies: Readonly<Record<Environment, EvidenceBodies>>;
  /** Returns the time before which evidence is expired; undefined where it never expires. */
  expiry: () => Date | undefined;
}): VerificationStore {
  const { client, databases, outboxes, bodies } = options;
  const of = ({ environment }: Tenant) => collectionsOf(databases, environment);
  const [saveLive, saveSandbox] = environments.map((environment) => {
    const collections = collectionsOf(databases, environment);
    const outbox = outboxes[environment];
    return createGroupCommit<PendingSave>({
      client,
      write: (session, savings) => write(session, savings, collections, outbox),
    });
  });
  const save = { live: saveLive!, sandbox: saveSandbox! };
  const newestAnswers = {
    live: createReadNewestAnswer(collectionsOf(databases, "live").answers),
    sandbox: createReadNewestAnswer(collectionsOf(databases, "sandbox").answers),
  };
  return {
    async save(tenant, records, completed, complete) {
      await bodies[tenant.environment].put(records.bodies).catch(notTheEffect);
      try {
        await save[tenant.environment]({ records, completed: withActiveTrace(completed), complete });
      } catch (cause) {
        if (!isDuplicateKey(cause, "run_record_id")) throw cause;
        throw new DuplicateRunError("the run has a verification already", { cause });
      }
    },
    get: (tenant, id) => of(tenant).verifications.findOne({ organization_id: tenant.organizationId, _id: id }),
    list: (tenant, entityId, page) =>
      findPage(
        of(tenant).verifications,
        { organization_id: tenant.organizationId, ...(entityId && { entity_id: entityId }) },
        page,
      ),
    async evidence(tenant, id) {
      const expiry = options.expiry();
      const found = await of(tenant).evidence.findOne({
        organization_id: tenant.organizationId,
        _id: id,
        ...(expiry && { created_at: { $gte: expiry } }),
      });
      return found && { ...found, content: await contentOf(found, bodies[tenant.environment]) };
    },
    newestAnswer: (tenant, key) => newestAnswers[tenant.environment](tenant, key),
    hasRun: async (tenant, recordId) =>
      (await of(tenant).verifications.findOne(
        { organization_id: tenant.organizationId, run_record_id: recordId },
        { projection: { _id: 1 } },
      )) !== null,
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

interface PendingSave {
  readonly records: VerificationRecords;
  readonly completed: OutboxRecord;
  readonly complete: (session: ClientSession) => Promise<void>;
}

async function write(
  session: ClientSession,
  savings: readonly PendingSave[],
  { verifications, evidence, answers }: ReturnType<typeof collectionsOf>,
  outbox: Outbox,
): Promise<void> {
  const [first, ...others] = savings.map(({ records }) => records.verification);
  // The driver says which index refused an insert only for a single one.
  if (others.length === 0) await verifications.insertOne(first!, { session });
  else await verifications.insertMany([first!, ...others], { session });
  const newEvidence = savings.flatMap(({ records }) => records.evidence);
  if (newEvidence.length > 0) await evidence.insertMany(newEvidence, { session });
  const newAnswers = savings.flatMap(({ records }) => records.answers);
  if (newAnswers.length > 0) await answers.insertMany(newAnswers, { session });
  await outbox.append(session, ...savings.map(({ completed }) => completed));
  for (const { complete } of savings) await complete(session);
}
