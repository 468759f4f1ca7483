import { ServiceError } from "@vvs/errors";
import type { RunVerification } from "@vvs/proto/monitor/v1/monitor";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import { collections } from "../store.ts";

const DAY_MS = 86_400_000;
/** How long live events are kept, in days: 7 years. */
export const EVENT_DAYS = 2_557;
/** How long the verification of the last run of a canceled monitor is kept, in days. */
const LAST_RUN_DAYS = 365;
/** Maximum number of verifications in a call. */
const MAX_TOGETHER = 500;

/**
 * Returns which of these verifications of runs are still named, and until when: by the last run of a monitor, by an event, or
 * by a run whose end was not read yet. Removes the runs of the others. Errors: invalid_request.
 */
export type ReleaseVerifications = (
  verifications: readonly Pick<RunVerification, "id" | "organizationId" | "monitorId" | "runSeq">[],
) => Promise<ReadonlyMap<string, Date>>;

const daysAfter = (date: Date, days: number) => new Date(date.getTime() + days * DAY_MS);

/** Creates the function for one environment. It reads for all organizations, and compares the owner of each verification. */
export function createReleaseVerifications(options: {
  environment: Environment;
  db: Db;
  now: () => Date;
}): ReleaseVerifications {
  const { environment, now } = options;
  const { monitors, runs, events } = collections(options.db);

  return async (verifications) => {
    if (verifications.length > MAX_TOGETHER) {
      throw new ServiceError("invalid_request", { message: `Give at most ${MAX_TOGETHER} verifications.` });
    }
    const ownerOf = new Map(verifications.map(({ id, organizationId }) => [id, organizationId]));
    const ofRun = new Map(verifications.map(({ id, monitorId, runSeq }) => [`${monitorId}:${runSeq}`, id]));
    const monitor_id = { $in: [...new Set(verifications.map(({ monitorId }) => monitorId))] };
    const verification_id = { $in: [...ownerOf.keys()] };
    const named = new Map<string, Date>();

    function name(id: string, organizationId: string, until: Date): void {
      if (ownerOf.get(id) !== organizationId || until <= now()) return;
      if (!(named.get(id)! >= until)) named.set(id, until);
    }

    // Before the monitors: a run that has ended is in its monitor.
    const open = runs.find({ _id: { $in: [...ofRun.keys()] }, ended_at: { $exists: false } });
    for (const { _id, organization_id } of await open.toArray()) {
      name(ofRun.get(_id)!, organization_id, daysAfter(now(), 1));
    }
    const naming = monitors.find({ _id: monitor_id, "last_run.verification_id": verification_id });
    for (const { organization_id, last_run, canceled_at } of await naming.toArray()) {
      name(last_run!.verification_id, organization_id, daysAfter(canceled_at ?? now(), LAST_RUN_DAYS));
    }
    for (const event of await events.find({ monitor_id, verification_id }).toArray()) {
      const { created_at } = event;
      const until = environment === "live" ? daysAfter(created_at, EVENT_DAYS + 1) : daysAfter(now(), 1);
      name(event.verification_id, event.organization_id, until);
    }
    const released = [...ofRun].filter(([, id]) => !named.has(id));
    await runs.deleteMany({
      _id: { $in: released.map(([runId]) => runId) },
      organization_id: { $in: [...new Set(ownerOf.values())] },
      verification_id: { $in: released.map(([, id]) => id) },
    });
    return named;
  };
}
