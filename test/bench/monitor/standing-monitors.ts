import { inBatches } from "@vvs/batching";
import { newId } from "@vvs/ids";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import type { Tenant } from "@vvs/tenant";
import { Binary, type Collection, type Db, type Document, type OptionalUnlessRequiredId } from "mongodb";
import { collections as detectorCollections } from "../../../services/change-detector/src/store.ts";
import type { EntityDocument } from "../../../services/entity/src/model/documents.ts";
import { periodsMs } from "../../../services/monitor/src/model/frequency.ts";
import type { MonitorDocument } from "../../../services/monitor/src/model/monitor.ts";
import { spreadMs } from "../../../services/monitor/src/model/spread.ts";
import { collections } from "../../../services/monitor/src/store.ts";
import { answerDigest } from "../../../services/verification/src/checks/answer-digest.ts";
import { inputsFingerprint } from "../../../services/verification/src/checks/check-inputs.ts";
import { latestId } from "../../../services/verification/src/checks/latest-answers.ts";
import { createSubjects } from "../../../services/verification/src/checks/subjects.ts";
import { ProviderError } from "../../../services/verification/src/providers/provider.ts";
import { createRegistryReader } from "../../../services/verification/src/providers/sam-gov/registry-reader.ts";
import { createSamGovExtract } from "../../../services/verification/src/providers/sam-gov/sam-gov-extract.ts";
import { collectionsOf } from "../../../services/verification/src/store.ts";

const CHECK = "sam_registration" as const;
/** Number of vendors whose monitors are made together. */
const TOGETHER = 1_000;
const AT_ONCE = 100;
/** Number of workers that read and store vendors at the same time. */
const WORKERS = 4;

/**
 * Stores daily monitors of the registry's vendors, one or more of each, that stand: with the digests, stored answers and
 * baselines that two real runs would have left, but without their verifications. Each is checked once in the day from `from` on.
 */
export async function insertStanding(options: {
  count: number;
  /** `pass` is the number of monitors that the vendor has already. */
  organizationId: (index: number, pass: number) => string;
  from: Date;
  vendors: Collection<EntityDocument>;
  entities: Client<typeof EntityService>;
  databases: { readonly monitor: Db; readonly verification: Db; readonly detector: Db };
}): Promise<void> {
  const { count, from, vendors, entities, databases } = options;
  const { monitors } = collections(databases.monitor);
  const { latestAnswers } = collectionsOf(databases.verification);
  const { baselines } = detectorCollections(databases.detector);
  const signal = new AbortController().signal;

  /** Returns nothing for a vendor that has no answer. */
  async function documentsOf(entityId: string, organizationId: string, { subjects, provider }: Readers) {
    const tenant: Tenant = { organizationId, environment: "live" };
    const subject = await subjects.read(tenant, entityId);
    const { uei, cage, legalName, entityType } = subject;
    const tin = () => Promise.reject(new Error("no TIN is asked for"));
    const run = { monitorId: "", runSeq: 2 };
    const known = { run, stored: undefined, kept: undefined };
    const question = { tenant, uei, cage, legalName, entityType, tin, ...known };
    const answer = await provider.ask(question, { signal }).catch(staleAsUndefined);
    if (!answer) return [];
    const fingerprint = inputsFingerprint(CHECK, subject);
    const monitor = monitorOf({ organizationId, entityId, from });
    const { outcome, reason, confidence, origin = "", dataDate, facts, details, parts } = answer;
    const ids = { organization_id: organizationId, entity_id: entityId };
    const asked = { ...ids, check_type: CHECK, inputs_fingerprint: fingerprint } as const;
    const ran = monitor.last_run!;
    const made = {
      monitor: {
        ...monitor,
        last_run: {
          ...{ ...ran, outcome, digest: answerDigest(CHECK, fingerprint, answer).toString("hex") },
          data_as_of: {
            ...(parts?.registration && { registration: parts.registration.date }),
            ...(parts?.exclusions && { exclusions: parts.exclusions.date }),
          },
        },
      },
      latest: {
        ...{ _id: latestId(asked), organization_id: organizationId, ...(parts && { parts }) },
        answer: {
          ...{ _id: newId("evd"), ...asked, outcome, reason, confidence, origin, data_date: dataDate, facts },
          ...{ ...(details && { details }), ...(parts && { parts }), created_at: ran.at },
        },
      },
      baseline: {
        ...{ _id: `${monitor._id}:${CHECK}`, organization_id: organizationId, monitor_id: monitor._id },
        ...{
          check: CHECK,
          run_seq: 2,
          inputs_fingerprint: new Binary(Buffer.from(fingerprint, "hex")),
          updated_at: ran.at,
        },
        fields: { ...emptyAsNull({ ...facts }), status: outcome },
        ...(parts && { parts }),
      } as const,
    };
    return [made];
  }

  async function* batches() {
    for (let pass = 0; ; pass++) {
      const found = vendors.find({}, { projection: { _id: 1 } });
      for await (const batch of inBatches(found, TOGETHER)) yield batch.map(({ _id }) => ({ vendor: _id, pass }));
    }
  }

  const next = batches();
  let read = 0;
  let stored = 0;
  async function worker(): Promise<void> {
    const readers = readersOf(entities);
    while (stored < count) {
      const { value: batch = [] } = await next.next();
      const from = read;
      read += batch.length;
      const found = batch.map(({ vendor, pass }, index) =>
        documentsOf(vendor, options.organizationId(from + index, pass), readers),
      );
      const made = (await Promise.all(found)).flat().slice(0, count - stored);
      stored += made.length;
      await Promise.all([
        insert(
          monitors,
          made.map(({ monitor }) => monitor),
        ),
        insert(
          latestAnswers,
          made.map(({ latest }) => latest),
        ),
        insert(
          baselines,
          made.map(({ baseline }) => baseline),
        ),
      ]);
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

/** What a worker reads vendors by: each has calls of its own. */
function readersOf(entities: Client<typeof EntityService>) {
  const registry = createRegistryReader(entities, { maxTogether: AT_ONCE });
  return {
    subjects: createSubjects(entities, AT_ONCE),
    provider: createSamGovExtract({ entities: registry, hasApi: false, now: () => new Date() }),
  };
}

type Readers = ReturnType<typeof readersOf>;

async function insert<T extends Document>(collection: Collection<T>, documents: OptionalUnlessRequiredId<T>[]) {
  if (documents.length > 0) await collection.insertMany(documents, { ordered: false });
}

function monitorOf(of: { organizationId: string; entityId: string; from: Date }): MonitorDocument {
  const { organizationId: organization_id, entityId: entity_id, from } = of;
  const periodMs = periodsMs.daily;
  const _id = newId("mon");
  const grid = spreadMs(_id, periodMs);
  const next_run_at = new Date(from.getTime() + ((((grid - from.getTime()) % periodMs) + periodMs) % periodMs));
  const since = new Date(next_run_at.getTime() - periodMs);
  const created_at = new Date(since.getTime() - periodMs);
  const created_as = { frequency: "daily", webhook_url: "https://example.com/hook", next_run_at: since } as const;
  return {
    ...{ _id, organization_id, entity_id, checks: [CHECK], status: "active", created_at, created_by: "key_1" },
    ...{ created_as, ...created_as, run_seq: 2, last_due_at: since, next_run_at, claimable_at: next_run_at },
    last_run: { run_seq: 2, at: since, outcome: "pass", verification_id: newId("ver") },
    standing: { run_seq: 2, since, offset_ms: next_run_at.getTime() % periodMs },
    ...{ consecutive_errors: 0, event_count: 0 },
    ...{ published_status: "active", published_frequency: "daily" },
  };
}

function staleAsUndefined(error: unknown): undefined {
  if (error instanceof ProviderError && error.reason === "stale_source") return undefined;
  throw error;
}

function emptyAsNull(facts: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, value || null]));
}
