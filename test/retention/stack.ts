import { createHash, randomBytes } from "node:crypto";
import { create, type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import {
  ChangeDetectedSchema,
  VerificationCompletedSchema,
  VerificationRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { ReleaseVerificationsResponseSchema } from "@vvs/proto/monitor/v1/monitor";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { factsOf, type Parts, registryDay, verdictOf } from "@vvs/registration";
import type { Db } from "mongodb";
import { callerIn, createTestDomain, someMonitor } from "../../services/monitor/src/testing/domain.ts";
import { newestOf } from "../../services/verification/src/checks/latest-answers.ts";
import { bodiesOf } from "../../services/verification/src/evidence/bodies.ts";
import { jobCollections } from "../../services/verification/src/jobs/documents.ts";
import { type Provider, ProviderError } from "../../services/verification/src/providers/provider.ts";
import { createRetention } from "../../services/verification/src/retention/removal.ts";
import { collectionsOf } from "../../services/verification/src/store.ts";
import { callerOf, evidenceOf, type TestVendor, verify } from "../../services/verification/src/testing/calls.ts";
import { jobsOf } from "../../services/verification/src/testing/jobs.ts";
import { startTestService } from "../../services/verification/src/testing/service.ts";
import { startChangeDetector } from "../support/change-detector.ts";

const DAY_MS = 86_400_000;
const days = { lasting: 2_557, repeated: 400, sandboxRuns: 14, least: 0 };

/** What the provider knows of a vendor. */
export interface PlayedVendor {
  legalName: string;
  /** Where the registration of its answers is from: as the files do, it may take that of an earlier answer, or an older one. */
  answers: "never" | "now" | "earlier" | "older";
}

type Kind = "requested" | "completed" | "changed";

/** Live monitor, verification and change-detector without Kafka, on one clock that the test moves. */
export async function startKeptStack() {
  const monitors = await createTestDomain({ environment: "live" });
  const { clock } = monitors;
  const now = () => clock.at;
  const vendors = new Map<string, PlayedVendor>();
  const provider: Provider = {
    name: "played",
    check: "sam_registration",
    async ask({ uei, stored }) {
      const { legalName, answers } = vendors.get(uei)!;
      if (answers === "never") throw new ProviderError("connection", { isFault: false });
      const source = { origin: "sam_gov_api", date: now(), load: "" };
      const date = answers === "older" ? new Date(now().getTime() - 300 * DAY_MS) : now();
      const listed = { listed_as: "active", id_only: false, expiration_date: "2099-12-31" } as const;
      const parts: Parts = {
        registration: (answers === "earlier" ? stored?.registration : undefined) ?? {
          ...{ ...source, date, ...listed, legal_name: legalName, cage: "", entity_type: "" },
        },
        exclusions: { ...source, flagged: false, exclusions: [] },
      };
      const verdict = verdictOf(parts, registryDay(now()))!;
      const { outcome, reason } = verdict;
      const facts = { ...factsOf(parts, verdict, registryDay(now())) };
      const content = JSON.stringify(parts);
      return {
        outcome,
        reason,
        confidence: 1,
        dataDate: now(),
        facts,
        parts,
        content,
        contentType: "application/json",
      };
    },
  };
  const verification = await startTestService({
    ...{ live: [provider], now },
    receiptKeys: [{ id: "k1", key: randomBytes(32) }],
  });
  const detector = await startChangeDetector({ prefix: monitors.prefix, now });
  const db = verification.databases.live;
  const stored = collectionsOf(db);
  const detectorDb = detector.client.db(monitors.db.databaseName.replace(/monitor(?=_live$)/, "change_detector"));
  /** All records that were published since `forget`. */
  const published: Record<Kind, Uint8Array[]> = { requested: [], completed: [], changed: [] };

  const read =
    <Desc extends DescMessage>(schema: Desc, handle: (record: MessageShape<Desc>) => Promise<unknown>) =>
    async (value: Uint8Array) =>
      void (await handle(fromBinary(schema, value)));
  const handlers: Record<Kind, (value: Uint8Array) => Promise<void>> = {
    requested: read(VerificationRequestedSchema, verification.runOf("live")),
    completed: read(VerificationCompletedSchema, async (record) => {
      await detector.detect(record);
      await monitors.records.verificationCompleted(record);
    }),
    changed: read(ChangeDetectedSchema, monitors.records.changeDetected),
  };

  async function take(from: Db, topic: RegExp, kind: Kind): Promise<number> {
    const outbox = from.collection("outbox");
    const rows = await outbox.find({ topic }).sort({ key: 1, seq: 1 }).toArray();
    for (const row of rows) {
      published[kind].push(row.value.buffer);
      await handlers[kind](row.value.buffer);
    }
    await outbox.deleteMany({});
    return rows.length;
  }

  /** Handles all records until there are none. */
  async function settle(): Promise<void> {
    let count: number;
    do {
      count = await take(monitors.db, /^verification\.requested/, "requested");
      count += await take(db, /verification\.completed$/, "completed");
      count += await take(detectorDb, /change_detected$/, "changed");
    } while (count > 0);
  }

  /** Removes what MongoDB would, by the clock of the test. */
  async function expire(of: Db): Promise<void> {
    for (const collection of await of.collections()) {
      for (const { key, expireAfterSeconds, partialFilterExpression } of await collection.indexes()) {
        if (expireAfterSeconds === undefined) continue;
        const before = new Date(now().getTime() - expireAfterSeconds * 1_000);
        await collection.deleteMany({ ...partialFilterExpression, [Object.keys(key)[0]!]: { $lt: before } });
      }
    }
  }

  const retain = createRetention({
    environment: "live",
    db,
    days,
    sandboxRuns: 10_000,
    isMine: () => true,
    now,
    stopping: new AbortController().signal,
    monitors: {
      async releaseVerifications({ verifications = [] }) {
        const named = await monitors.releaseVerifications(verifications as never);
        const until = [...named].map(([id, date]) => ({ id, until: timestampFromDate(date) }));
        return create(ReleaseVerificationsResponseSchema, { named: until });
      },
    },
  });

  return {
    monitors,
    stored,
    published,
    settle,
    pass: (ms: number) => monitors.pass(ms),
    /** Makes a vendor of an organization. */
    vendor(organizationId: string) {
      const entityId = newId("ent");
      const uei = createHash("sha256").update(entityId).digest("hex").slice(0, 12).toUpperCase();
      const played: PlayedVendor = { legalName: "ACME", answers: "now" };
      vendors.set(uei, played);
      verification.entities.put(organizationId, entityId, { subject: { legalName: "Acme", uei } });
      return { organizationId, entityId, played };
    },
    async monitor({ organizationId, entityId }: { organizationId: string; entityId: string }) {
      const caller = callerIn({ organizationId, environment: "live" });
      return (await monitors.commands.create(caller, someMonitor({ entityId, frequency: "monthly" }))).value;
    },
    cancel: ({ id, organizationId }: { id: string; organizationId: string }) =>
      monitors.commands.cancel(callerIn({ organizationId, environment: "live" }), id),
    /** Runs what is due, to the end. Each scheduled check is a real run, as if it had found something else. */
    async run() {
      await monitors.monitors.updateMany({}, { $unset: { standing: true } });
      while ((await monitors.scheduler.claimDue()).claimed > 0) await settle();
      await settle();
    },
    async verify(vendor: TestVendor, mode: Mode) {
      const made = await verify(verification, vendor, { mode });
      await settle();
      return made;
    },
    /** Verifies vendors of an organization by a job, to the end. Returns its id. */
    async job(...listed: readonly TestVendor[]): Promise<string> {
      const { start } = jobsOf(verification, listed[0]!.organizationId);
      const rows = listed.map(({ entityId }) => ({ entityId }));
      const jobId = await start(rows, { mode: Mode.CACHED });
      await verification.jobs.live.work();
      await settle();
      return jobId;
    },
    /** Reads what the receipt of a job says, as the API does. */
    async jobReceipt(organizationId: string, jobId: string) {
      const asked = { caller: callerOf(organizationId), jobId, issuer: "https://api.example.test" };
      const { receipt } = await verification.jobClient.getJobReceipt(asked);
      return JSON.parse(Buffer.from(receipt.split(".")[1]!, "base64url").toString());
    },
    /** Reads the evidence of a result as the API does. */
    evidence: (organizationId: string, evidenceId: string) => evidenceOf(verification, evidenceId, organizationId),
    /** Forgets what was published: it is older than any topic keeps. */
    forget() {
      for (const values of Object.values(published)) values.length = 0;
    },
    /** Handles all records of these kinds again, as a replayed topic or dead letters do. */
    async replay(...kinds: Kind[]) {
      for (const kind of kinds) for (const value of [...published[kind]]) await handlers[kind](value);
      await settle();
    },
    /** Removes all that is past its time: two rounds, an hour apart. */
    async age() {
      for (const each of [monitors.db, detectorDb, db]) await expire(each);
      await verification.jobs.live.removeAged();
      await retain();
      monitors.pass(2 * 3_600_000);
      await retain();
    },
    /** Returns each reference to something that is not there, in words. */
    async dangling(): Promise<string[]> {
      const [rows, verifications, evidence, latest, bodies] = await Promise.all([
        jobCollections(db).rows.find().toArray(),
        stored.verifications.find().toArray(),
        stored.evidence.find().toArray(),
        stored.latestAnswers.find().toArray(),
        bodiesOf(db).find().toArray(),
      ]);
      const ofMonitor = {
        monitors: await monitors.monitors.find().toArray(),
        events: await monitors.events.find().toArray(),
      };
      const ended = await monitors.runs.find({ ended_at: { $exists: true } }).toArray();
      const there = new Set([...verifications, ...evidence, ...bodies, ...ended].map(({ _id }) => _id));
      const yearAgo = new Date(now().getTime() - 365 * DAY_MS);
      const references: [string, string | undefined][] = [
        ...ofMonitor.monitors
          .filter(({ canceled_at }) => !canceled_at || canceled_at > yearAgo)
          .flatMap(({ _id, last_run }) => {
            const names = last_run ? [last_run.verification_id, `${_id}:${last_run.run_seq}`] : [];
            return names.map((name) => [`last run of ${_id}`, name] as [string, string]);
          }),
        ...ofMonitor.events.map(({ _id, verification_id }) => [_id, verification_id] as [string, string]),
        ...ended.map(({ _id, verification_id }) => [`run ${_id}`, verification_id] as [string, string | undefined]),
        ...verifications.flatMap(({ _id, results }) =>
          results.map(({ evidence_id }) => [_id, evidence_id] as [string, string]),
        ),
        ...evidence.flatMap(({ _id, verification_id, sha256, content_bytes, rests_on = [] }) =>
          [verification_id, ...(content_bytes ? [sha256] : []), ...rests_on].map((id) => [_id, id] as [string, string]),
        ),
        ...rows.map(({ _id, result }) => [`row ${_id}`, result?.verification_id] as [string, string | undefined]),
        ...latest.map((each) => [`answer ${each._id}`, newestOf(each)._id] as [string, string]),
      ];
      const named = new Set(evidence.map(({ sha256 }) => sha256));
      return [
        ...references.flatMap(([from, to]) => (to === undefined || there.has(to) ? [] : [`${from} → ${to}`])),
        ...bodies.flatMap(({ _id }) => (named.has(_id) ? [] : [`body ${_id} has no record`])),
      ];
    },
  };
}
