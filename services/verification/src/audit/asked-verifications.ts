import { firstId } from "@vvs/ids";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import { collectionsOf } from "../store.ts";

const HOUR_MS = 3_600_000;
/** Pause between two reports, in milliseconds. */
const PERIOD_MS = 10 * 60_000;
/** How long after a verification got its id its transaction may still commit, in milliseconds: longer than any call or run. */
const COMMITTED_MS = 5 * 60_000;

/** The verifications that one actor asked for within one hour. */
export interface AskedVerifications {
  readonly tenant: Tenant;
  /** The API key or the user. */
  readonly actor: string;
  /** Start of the hour (UTC). */
  readonly hour: Date;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** Adds verifications to the audit log; called again for the same actor and hour, the highest number counts. */
export type ReportAsked = (asked: AskedVerifications) => Promise<void>;

/** How far the audit log has the verifications of an environment. */
interface ProgressDocument {
  readonly _id: "asked_verifications";
  /** The hours before this one are complete. */
  readonly complete_until: Date;
  /** When the next report is due. */
  readonly next_at: Date;
}

const progressOf = (db: Db) => db.collection<ProgressDocument>("audit_progress");

/** Creates the document of the progress: verifications count from the current hour on. */
export async function migrateAskedVerifications(db: Db): Promise<void> {
  const hour = { $dateTrunc: { date: "$$NOW", unit: "hour" } };
  const complete_until = { $ifNull: ["$complete_until", hour] };
  const next_at = { $ifNull: ["$next_at", "$$NOW"] };
  await progressOf(db).updateOne({ _id: "asked_verifications" }, [{ $set: { complete_until, next_at } }], {
    upsert: true,
  });
}

/**
 * Creates the round that reports how many verifications each API key and user asked for in each hour, without those of
 * monitors. It counts the stored verifications themselves, so that no call has to write more, and none is lost by a crash.
 * One replica reports every ten minutes; two may report the same, since it changes nothing. Returns how long to wait for
 * the next round, in milliseconds. Errors: those of the report and of the database; the next report makes up for it.
 */
export function createAskedVerifications(options: {
  environment: Environment;
  db: Db;
  report: ReportAsked;
  /** The clock that verifications get their ids by. */
  now: () => Date;
}): { round: () => Promise<number> } {
  const { environment, db, report, now } = options;
  const progress = progressOf(db);
  const { verifications } = collectionsOf(db);

  async function reportHour(hour: Date): Promise<void> {
    const end = new Date(hour.getTime() + HOUR_MS);
    const counted = verifications.aggregate<{
      _id: { org: string; actor: string };
      count: number;
      first: Date;
      last: Date;
    }>([
      {
        $match: {
          _id: { $gte: firstId("ver", hour), $lt: firstId("ver", end) },
          run: { $exists: false },
          actor: { $gt: "" },
        },
      },
      {
        $group: {
          _id: { org: "$organization_id", actor: "$actor" },
          count: { $sum: 1 },
          first: { $min: "$created_at" },
          last: { $max: "$created_at" },
        },
      },
    ]);
    for await (const { _id, count, first, last } of counted) {
      const tenant = { organizationId: _id.org, environment };
      await report({ tenant, actor: _id.actor, hour, count, firstAt: first, lastAt: last });
    }
  }

  return {
    async round() {
      const at = now();
      const due = { _id: "asked_verifications" as const, next_at: { $lte: at } };
      const next_at = new Date(at.getTime() + PERIOD_MS);
      const claimed = await progress.findOneAndUpdate(due, { $set: { next_at } });
      if (!claimed) return PERIOD_MS / 10;
      try {
        for (let hour = claimed.complete_until; hour <= at; hour = new Date(hour.getTime() + HOUR_MS)) {
          await reportHour(hour);
          const complete_until = new Date(hour.getTime() + HOUR_MS);
          if (at.getTime() < complete_until.getTime() + COMMITTED_MS) continue;
          await progress.updateOne({ _id: "asked_verifications" }, { $max: { complete_until } });
        }
      } catch (error) {
        await progress.updateOne({ _id: "asked_verifications" }, { $set: { next_at: at } });
        throw error;
      }
      return PERIOD_MS / 10;
    },
  };
}
