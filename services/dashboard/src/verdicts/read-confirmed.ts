import { timestampDate, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Confirmations, ConfirmedRun as ScheduledRun } from "@vvs/proto/monitor/v1/monitor";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "../http/session.ts";
import type { AppOptions } from "../page/app-options.ts";

/** The full check of a monitor, and what its scheduled checks made of it. */
export type { ScheduledRun };

/** A run that scheduled checks confirmed. */
export type ConfirmedRun = ScheduledRun & { readonly confirmed: Confirmations };

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
  return Map.groupBy(runs, ({ entityId }) => entityId);
}

/** Returns the one of a vendor's runs that was confirmed last; undefined where none was. */
export function confirmedLast(runs: readonly ScheduledRun[]): ConfirmedRun | undefined {
  const isConfirmed = (run: ScheduledRun): run is ConfirmedRun => run.confirmed !== undefined;
  const lastAt = ({ confirmed }: ConfirmedRun) => timestampMs(confirmed.lastAt!);
  return runs.filter(isConfirmed).sort((a, b) => lastAt(b) - lastAt(a))[0];
}

/** Returns when the last of the scheduled checks was due, for files; "" where there was none. */
export const confirmedTo = (confirmed: Confirmations | undefined): string =>
  confirmed ? timestampDate(confirmed.lastAt!).toISOString() : "";
