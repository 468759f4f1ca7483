import type { Check } from "@vvs/checks";
import type { Parts } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Db } from "mongodb";
import type { Baseline } from "./detect.ts";

/** The baseline of one check of a monitor. */
interface BaselineDocument {
  /** <monitor id>:<check>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly check: Check;
  readonly run_seq: number;
  readonly inputs_fingerprint: Binary;
  readonly tin_fingerprint?: Binary;
  readonly fields: Readonly<Record<string, string | null>>;
  /** The newest known parts of a live sam_registration, each with its origin and date. Absent for all others. */
  readonly parts?: Parts;
  readonly updated_at: Date;
}

/** A verification that was compared. Kept longer than the records of its topic. */
interface HandledDocument {
  /** ver_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly handled_at: Date;
}

/** Returns the collections; the migration creates them. */
export function collections(db: Db) {
  return {
    baselines: db.collection<BaselineDocument>("baselines"),
    handled: db.collection<HandledDocument>("handled_verifications"),
  };
}

/** Creates the store of one environment. It reads and writes in the caller's transaction. */
export function createBaselineStore(db: Db) {
  const { baselines, handled } = collections(db);
  return {
    /** Marks the verification as compared. Errors: a duplicate key if it was marked before. */
    async claim(tenant: Tenant, session: ClientSession, verificationId: string, at: Date): Promise<void> {
      await handled.insertOne(
        { _id: verificationId, organization_id: tenant.organizationId, handled_at: at },
        { session },
      );
    },
    /** Returns the baselines of one monitor, by check. */
    async find(tenant: Tenant, session: ClientSession, monitorId: string): Promise<Map<Check, Baseline>> {
      const filter = { organization_id: tenant.organizationId, monitor_id: monitorId };
      const found = await baselines.find(filter, { session }).toArray();
      return new Map(
        found.map(({ check, run_seq: runSeq, inputs_fingerprint, tin_fingerprint, fields, parts }) => [
          check,
          {
            ...{ runSeq, inputsFingerprint: inputs_fingerprint.buffer, fields },
            ...(tin_fingerprint && { tinFingerprint: tin_fingerprint.buffer }),
            ...(parts && { parts }),
          },
        ]),
      );
    },
    /** Replaces the baseline of one check. */
    async save(
      tenant: Tenant,
      session: ClientSession,
      { monitorId, check, baseline, at }: { monitorId: string; check: Check; baseline: Baseline; at: Date },
    ): Promise<void> {
      const filter = { _id: `${monitorId}:${check}`, organization_id: tenant.organizationId };
      const document = {
        ...filter,
        monitor_id: monitorId,
        check,
        run_seq: baseline.runSeq,
        inputs_fingerprint: new Binary(baseline.inputsFingerprint),
        ...(baseline.tinFingerprint && { tin_fingerprint: new Binary(baseline.tinFingerprint) }),
        fields: baseline.fields,
        ...(baseline.parts && { parts: baseline.parts }),
        updated_at: at,
      };
      await baselines.replaceOne(filter, document, { session, upsert: true });
    },
    /**
     * Returns why a run can't be stored: the verification was marked before, or it, or the monitor's baseline of one of the
     * checks, belongs to another organization. Undefined if neither is so.
     */
    async conflictOf(
      { organizationId }: Tenant,
      { verificationId, monitorId, checks }: { verificationId: string; monitorId: string; checks: readonly Check[] },
    ): Promise<"handled" | "foreign" | undefined> {
      const ids = checks.map((check) => `${monitorId}:${check}`);
      const [marked, foreign] = await Promise.all([
        handled.findOne({ _id: verificationId }),
        baselines.findOne({ _id: { $in: ids }, organization_id: { $ne: organizationId } }),
      ]);
      if (foreign || (marked && marked.organization_id !== organizationId)) return "foreign";
      return marked ? "handled" : undefined;
    },
  };
}
