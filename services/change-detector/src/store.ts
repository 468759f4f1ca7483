import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";
import type { Baseline, Check } from "./detect.ts";

/** What one check of a monitor was last known to be. */
interface BaselineDocument {
  /** <monitor id>:<check>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly check: Check;
  readonly run_seq: number;
  readonly inputs_fingerprint: Binary;
  readonly fields: Readonly<Record<string, string | null>>;
  readonly updated_at: Date;
}

/** A verification that was compared; kept longer than its topic's records. */
interface HandledDocument {
  /** ver_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly handled_at: Date;
}

export interface BaselineStore {
  /** False where this verification was compared before. */
  claim(tenant: Tenant, session: ClientSession, verificationId: string, at: Date): Promise<boolean>;
  /** The baselines of one monitor, by check. */
  find(tenant: Tenant, session: ClientSession, monitorId: string): Promise<Map<Check, Baseline>>;
  /** Replaces the baseline of one check. */
  save(
    tenant: Tenant,
    session: ClientSession,
    change: { monitorId: string; check: Check; baseline: Baseline; at: Date },
  ): Promise<void>;
}

/** The collections; both are made by the migration. */
export function collections(db: Db): {
  baselines: Collection<BaselineDocument>;
  handled: Collection<HandledDocument>;
} {
  return {
    baselines: db.collection<BaselineDocument>("baselines"),
    handled: db.collection<HandledDocument>("handled_verifications"),
  };
}

/** The baselines of one environment, read and written in the caller's transaction. */
export function createBaselineStore(db: Db): BaselineStore {
  const { baselines, handled } = collections(db);
  return {
    async claim(tenant, session, verificationId, at) {
      const mine = { _id: verificationId, organization_id: tenant.organizationId };
      if (await handled.findOne(mine, { session })) return false;
      // Whoever handles the same record at the same time fails here, and finds it handled when it tries again.
      await handled.insertOne({ ...mine, handled_at: at }, { session });
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
        updated_at: at,
      };
      await baselines.replaceOne(filter, document, { session, upsert: true });
    },
  };
}

function toBaseline(document: BaselineDocument): Baseline {
  return {
    runSeq: document.run_seq,
    inputsFingerprint: document.inputs_fingerprint.buffer,
    fields: document.fields,
  };
}
