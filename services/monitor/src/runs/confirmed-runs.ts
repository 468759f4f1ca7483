import { ServiceError } from "@vvs/errors";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { MonitorDocument, RunDocument } from "../model/monitor.ts";
import { collections } from "../store.ts";
import type { Positions } from "../sweep/positions.ts";
import { type ScheduledChecks, scheduledChecks } from "../sweep/standing.ts";

/** A run of a monitor, and the scheduled checks after it. */
export interface ConfirmedRun extends Pick<ScheduledChecks, "confirmed" | "staleSince"> {
  readonly monitor: Pick<MonitorDocument, "_id" | "entity_id">;
  readonly run: Pick<Required<RunDocument>, "verification_id" | "outcome" | "ended_at">;
}

/** Maximum number of entities in a call. */
const MAX_ENTITIES = 100;
/** Maximum number of monitors that are read, shared by the entities: of each the active ones go first, then the newest. */
const MAX_MONITORS = 1_000;

/**
 * Creates the function that returns the newest run of each monitor of some entities, if scheduled checks confirmed it or could
 * not; with `before` the newest that ended before that time. Errors: invalid_request.
 */
export function createListConfirmedRuns(options: { db: Db; readPositions: () => Promise<Positions> }) {
  const { monitors, runs } = collections(options.db);

  function monitorsOf({ organizationId: organization_id }: Tenant, entityIds: readonly string[]) {
    const of = { from: monitors.collectionName, localField: "entity_id", foreignField: "entity_id", as: "monitor" };
    const pipeline = [
      { $match: { organization_id, checks: { $eq: ["sam_registration"] } } },
      { $sort: { status: 1, created_at: -1, _id: -1 } },
      { $limit: Math.floor(MAX_MONITORS / entityIds.length) },
    ];
    return options.db
      .aggregate<MonitorDocument>([
        { $documents: entityIds.map((entity_id) => ({ entity_id })) },
        { $lookup: { ...of, pipeline } },
        { $unwind: "$monitor" },
        { $replaceWith: "$monitor" },
      ])
      .toArray();
  }

  /** Returns the monitor's newest run of before a time that is not its last one, as stored when the next run ended. */
  async function earlier(monitor: MonitorDocument, before: Date): Promise<ConfirmedRun | undefined> {
    const { _id, organization_id } = monitor;
    const ended = { organization_id, monitor_id: _id, ended_at: { $exists: true, $lt: before } };
    const run = await runs.findOne(ended, { sort: { ended_at: -1, _id: -1 } });
    const { verification_id, outcome, ended_at, confirmed } = run ?? {};
    if (!verification_id || !outcome || !ended_at) return undefined;
    return { monitor, run: { verification_id, outcome, ended_at }, confirmed, staleSince: undefined };
  }

  return async (tenant: Tenant, entityIds: readonly string[], before: Date | undefined): Promise<ConfirmedRun[]> => {
    if (entityIds.length > MAX_ENTITIES) {
      const message = `must be at most ${MAX_ENTITIES}`;
      throw new ServiceError("invalid_request", { details: [{ path: "entity_ids", message }] });
    }
    const positions = await options.readPositions();
    const found = entityIds.length > 0 ? await monitorsOf(tenant, entityIds) : [];
    const read = await Promise.all(
      found.map((monitor) => {
        const { last_run } = monitor;
        if (!last_run) return undefined;
        if (before && last_run.at >= before) return earlier(monitor, before);
        const { verification_id, outcome, at: ended_at } = last_run;
        const checks = scheduledChecks(monitor, positions.get(monitor.frequency));
        return { monitor, run: { verification_id, outcome, ended_at }, ...checks };
      }),
    );
    return read.filter((each) => each !== undefined).filter(({ confirmed, staleSince }) => confirmed || staleSince);
  };
}
