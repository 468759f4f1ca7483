import type { Check } from "@vvs/checks";
import type { Parts } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";
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

export interface BaselineStore {
  /** Marks the verification as compared. Returns false if it was marked before. */
  claim(tenant: Tenant, session: ClientSession, verificationId: string, at: Date): Promise<boolean>;
  /** Returns the baselines of one monitor, by check. */
  find(tenant: Tenant, session: ClientSession, monitorId: string): Promise<Map<Check, Baseline>>;
  /** Replaces the baseline of one check. */
  save(
    tenant: Tenant,
    session: ClientSession,
    change: { monitorId: string; check: Check; baseline: Baseline; at: Date },
  ): Promise<void>;
  /** Returns whether the verification, or the monitor's baseline of one of the checks, belongs to another organization. */
  isForeign(
    tenant: Tenant,
    run: { verificationId: string; monitorId: string; checks: readonly Check[] },
  ): Promise<boolean>;
}

/** Returns the collections; the migration creates them. */
export function collections(db: Db): {
  baselines: Collection<BaselineDocument>;
  handled: Collection<HandledDocument>;
} {
  return {
    baselines: db.collection<BaselineDocument>("baselines"),
    handled: db.collection<HandledDocument>("handled_verifications"),
  };
}

/** Creates the store of one environment. It reads and writes in the caller's transaction. */
export function createBaselineStore(db: Db): BaselineStore {
  const { baselines, handled } = collections(db);
  return {
    async claim(tenant, session, verificationId, at) {
      const own = { _id: verificationId, organization_id: tenant.organizationId };
      if (await handled.findOne(own, { session })) return false;
      // A second handler of the same record fails here, retries, and then finds the record handled.
      await handled.insertOne({ ...own, handled_at: at }, { session });
      return true;
    },
    async find(tenant, session, monitorId) {
      const filter = { organization_id: tenant.organizationId, monitor_id: monitorId };
      const found = await baselines.find(filter, { session }).toArray();
      return new Map(found.map((document) => [document.check, toBaseline(document)]));
    },
    async save(tenant, session, { monitorId, check, baseline, at }) {
      const filter = { _id: `${monitorId}:${check}`, organization_id: tenant.organizationId };
      const document = {
        ...filter,
        monitor_id: monitorId,
        check,
        run_seq: baseline.runSeq,
        inputs_fingerprint: new Binary(baseline.inputsFingerprint),
        fields: baseline.fields,
        ...(baseline.parts && { parts: baseline.parts }),
        updated_at: at,
      };
      await baselines.replaceOne(filter, document, { session, upsert: true });
    },
    async isForeign(tenant, { verificationId, monitorId, checks }) {
      const others = { organization_id: { $ne: tenant.organizationId } };
      const found = await Promise.all([
        handled.findOne({ _id: verificationId, ...others }),
        baselines.findOne({ _id: { $in: checks.map((check) => `${monitorId}:${check}`) }, ...others }),
      ]);
      return found.some((document) => document !== null);
    },
  };
}

function toBaseline(document: BaselineDocument): Baseline {
  return {
    runSeq: document.run_seq,
    inputsFingerprint: document.inputs_fingerprint.buffer,
    fields: document.fields,
    ...(document.parts && { parts: document.parts }),
  };
}
