import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "../http/session.ts";
import type { AppOptions } from "../page/app-options.ts";
import { type ScheduledRun, scheduledRunOf } from "./confirmation.ts";

/** What scheduled checks made of the monitors' runs, by vendor; of vendors without any it has none. */
export type ScheduledRuns = ReadonlyMap<string, readonly ScheduledRun[]>;

/** For vendors without any, and while they are unavailable. */
export const noRuns: readonly ScheduledRun[] = [];

/**
 * Reads what scheduled checks made of the newest runs of at most 100 vendors' monitors; with `before` of the newest that ended
 * before that time. Errors: those of the call.
 */
export async function readScheduledRuns(
  { monitors }: Pick<AppOptions, "monitors">,
  { caller }: Pick<Visit, "caller">,
  { entityIds, before }: { readonly entityIds: readonly string[]; readonly before?: Date },
  options?: CallOptions,
): Promise<ScheduledRuns> {
  if (entityIds.length === 0) return new Map();
  const request = { caller, entityIds: [...entityIds], ...(before && { before: timestampFromDate(before) }) };
  const { runs } = await monitors.listConfirmedRuns(request, options);
  return Map.groupBy(runs.map(scheduledRunOf), ({ entityId }) => entityId);
}
