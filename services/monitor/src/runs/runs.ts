import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import { findPage, type Page } from "@vvs/mongo";
import { type Outbox, type OutboxRecord, withActiveTrace } from "@vvs/outbox";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, Db } from "mongodb";
import type { MonitorDocument, RunCause, RunDocument } from "../model/monitor.ts";
import { collections } from "../store.ts";
import type { RunEnd } from "./run-end.ts";

/** A run as stored, and the record that requests its verification. */
export interface ClaimedRun {
  readonly run: RunDocument;
  readonly request: OutboxRecord;
}

/** A run that has ended. */
export type EndedRun = Required<Omit<RunDocument, "cause" | "confirmed">> & Pick<RunDocument, "cause" | "confirmed">;

/** Full names of the topics of one environment that request verifications. */
export interface RunTopics {
  readonly verificationRequested: string;
  /** For runs whose checks include tin_match: a slow TIN provider must not delay other runs. */
  readonly verificationRequestedTin: string;
}

export type Runs = ReturnType<typeof createRuns>;

/** The runs of one environment. */
export function createRuns(options: {
  db: Db;
  outbox: Outbox;
  /** Full names of the environment's topics. */
  topics: RunTopics;
}) {
  const { outbox, topics } = options;
  const { runs } = collections(options.db);

  /** Returns the record that requests the verification of a monitor's open run, or its end. */
  function requestOf(tenant: Tenant, monitor: MonitorDocument, { canceled = false } = {}): OutboxRecord {
    const { run_seq, claimed_at } = monitor.open_run!;
    const recordId = runId(monitor._id, run_seq);
    const message = create(VerificationRequestedSchema, {
      recordId,
      tenant: toProtoTenant(tenant),
      run: { monitorId: monitor._id, runSeq: BigInt(run_seq) },
      entityId: monitor.entity_id,
      checks: monitor.checks.map(toCheckType),
      requestedAt: timestampFromDate(claimed_at),
      canceled,
    });
    const value = toBinary(VerificationRequestedSchema, message);
    const topic = monitor.checks.includes("tin_match") ? topics.verificationRequestedTin : topics.verificationRequested;
    return { id: canceled ? `${recordId}:canceled` : recordId, topic, key: monitor._id, seq: run_seq, value };
  }

  return {
    /** Returns the run that the monitor has just claimed, and why. Its record carries the active trace. */
    claimed(tenant: Tenant, monitor: MonitorDocument, cause: RunCause): ClaimedRun {
      const run: RunDocument = {
        _id: runId(monitor._id, monitor.run_seq),
        organization_id: tenant.organizationId,
        monitor_id: monitor._id,
        run_seq: monitor.run_seq,
        claimed_at: monitor.open_run!.claimed_at,
        cause,
      };
      return { run, request: withActiveTrace(requestOf(tenant, monitor)) };
    },

    /**
     * Requests, in the transaction that cancels a monitor, that its open run ends if it waits for SAM.gov's API. Runs wait
     * for it only in the live environment.
     */
    async cancel(session: ClientSession, tenant: Tenant, monitor: MonitorDocument): Promise<void> {
      const mayWait = tenant.environment === "live" && monitor.checks.includes("sam_registration");
      if (mayWait && monitor.open_run) await outbox.append(session, requestOf(tenant, monitor, { canceled: true }));
    },

    /** Stores runs and requests their verifications, in the transaction that claims them. */
    async begin(session: ClientSession, claimed: readonly ClaimedRun[]): Promise<void> {
      if (claimed.length === 0) return;
      const documents = claimed.map(({ run }) => run);
      await runs.insertMany(documents, { session });
      await outbox.append(session, ...claimed.map(({ request }) => request));
    },

    /** Stores how a run ended. Returns false if it had ended before or is no longer stored. */
    async end(tenant: Tenant, session: ClientSession, monitorId: string, end: RunEnd): Promise<boolean> {
      const open = {
        _id: runId(monitorId, end.runSeq),
        organization_id: tenant.organizationId,
        ended_at: { $exists: false },
      };
      const fields = { ended_at: end.at, outcome: end.outcome, verification_id: end.verificationId };
      const ended = await runs.updateOne(open, { $set: fields }, { session });
      return ended.matchedCount === 1;
    },

    /** Stores by which scheduled checks a run was confirmed. */
    async confirm(
      tenant: Tenant,
      session: ClientSession,
      monitorId: string,
      { run_seq, confirmed }: NonNullable<MonitorDocument["last_run"]>,
    ): Promise<void> {
      const run = { _id: runId(monitorId, run_seq), organization_id: tenant.organizationId };
      await runs.updateOne(run, { $set: { confirmed } }, { session });
    },

    /** Returns the ended runs of a monitor, newest first. */
    list(tenant: Tenant, monitorId: string, page: PageRequest | undefined): Promise<Page<EndedRun>> {
      const ended = { organization_id: tenant.organizationId, monitor_id: monitorId, ended_at: { $exists: true } };
      return findPage<RunDocument, EndedRun>(runs, ended, page, { time: "ended_at" });
    },
  };
}

/** Returns the same id for every claim of the same run, so that a second record of it has no effect. */
function runId(monitorId: string, runSeq: number): string {
  return `${monitorId}:${runSeq}`;
}
