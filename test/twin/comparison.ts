import type { ChangeDetected } from "@vvs/proto/events/v1/events";
import { utcDay } from "@vvs/registration";
import { periodsMs } from "../../services/monitor/src/model/frequency.ts";
import type { RunDocument } from "../../services/monitor/src/model/monitor.ts";
import type { Positions } from "../../services/monitor/src/sweep/positions.ts";
import { latestOfVendor } from "../../services/verification/src/checks/latest-answers.ts";
import { queueCollections } from "../../services/verification/src/questions/documents.ts";
import { questionKey } from "../../services/verification/src/questions/question.ts";
import { collectionsOf } from "../../services/verification/src/store.ts";
import type { Product } from "./product.ts";
import { trueValues } from "./truth.ts";
import { type Twins, vendorOf, type Watched } from "./twins.ts";
import type { Vendor, World } from "./world.ts";

/** Checks that what a product reports is true, by some source. */
export function checkTruth(
  { world, clock, round, watched }: Twins,
  of: string,
  { run, changes }: ChangeDetected,
): void {
  const monitor = watched(run!.monitorId);
  const vendor = vendorOf(monitor.history, monitor.watched);
  for (const { field, current } of changes) {
    const values = trueValues(world, vendor, field.split(".")[1]!, clock.at);
    if (values.has(current ?? null)) continue;
    const what = `${of} reports ${field} = ${current} of ${run!.monitorId} at ${clock.at.toISOString()}`;
    round.found.wrong.push(`${monitor.history.name}: ${what}; true: ${[...values]}`);
  }
}

/**
 * Compares the products after the scheduled checks that were due since a time: of those, the twin has runs. `swept` is how far the
 * product had made them before.
 */
export async function compare(
  { product, twin, clock, round, world, watched }: Twins,
  { since, swept }: { since: Date; swept: Positions },
): Promise<void> {
  const { found } = round;
  const made = await twin.monitors.runs.find({ claimed_at: { $gte: since }, cause: "schedule" }).toArray();
  const ran = await twin.monitors.monitors.find({ _id: { $in: made.map(({ monitor_id }) => monitor_id) } }).toArray();
  // The sweep looks some minutes further than the runs of a step: what it checked then is not compared with a later run.
  const isNew = ({ monitor_id, claimed_at }: RunDocument) => {
    const { frequency, last_due_at } = ran.find(({ _id }) => _id === monitor_id)!;
    const sinceDueMs = claimed_at.getTime() - last_due_at.getTime();
    const newestDue = claimed_at.getTime() - (sinceDueMs % periodsMs[frequency]);
    return newestDue > (swept.get(frequency)?.swept_to.getTime() ?? 0);
  };
  const ended = made.filter((run) => run.outcome !== undefined && run.outcome !== "error" && isNew(run));
  const ids = ended.map(({ monitor_id }) => monitor_id);
  const baselines = { _id: { $in: ids.map((id) => `${id}:sam_registration`) } };
  const [mine, others, monitors] = await Promise.all([
    product.baselines.find(baselines).toArray(),
    twin.baselines.find(baselines).toArray(),
    product.monitors.monitors.find({ _id: { $in: ids } }).toArray(),
  ]);
  found.compared += ended.length;
  for (const { monitor_id: id, outcome, claimed_at } of ended) {
    const [is, expected] = [mine, others].map((all) => sorted(all.find((each) => each.monitor_id === id)?.fields));
    const monitor = monitors.find(({ _id }) => _id === id)!;
    if (is === expected && monitor.last_run?.outcome === outcome) continue;
    const { history, watched: watching } = watched(id);
    const vendor = vendorOf(history, watching);
    const known = await askedAbout(product, { world, vendor, watching, until: clock.at });
    // Other runs of the same moment may have asked after this one.
    const twinKnown = await askedAbout(twin, { world, vendor, watching, until: new Date(claimed_at.getTime() - 1) });
    if (known !== twinKnown) found.asked += 1;
    else {
      const what = `${id} at ${clock.at.toISOString()} is ${is}, in the twin ${expected}; ${monitor.last_run?.outcome}, ${outcome}`;
      const why = [monitor, known, vendor.history, world.recordOf(vendor)].map((each) => JSON.stringify(each));
      found.wrong.push([`${history.name}: ${what}`, ...why].join("\n"));
    }
  }
}

/** Checks that the product's events of a field follow from each other, so that none came twice, and counts. */
export async function checkEvents({ product, twin, round }: Twins): Promise<void> {
  const { found, histories } = round;
  const monitor_id = { $in: histories.flatMap(({ monitors }) => monitors.map(({ id }) => id)) };
  const events = await product.monitors.events.find({ monitor_id }).sort({ run_seq: 1 }).toArray();
  const last = new Map<string, string | null>();
  for (const { monitor_id, run_seq, changes } of events) {
    for (const { field, previous, current } of changes) {
      const name = `${monitor_id} ${field}`;
      const before = last.get(name);
      if (before !== undefined && before !== previous) {
        found.wrong.push(`${name} was ${previous} before run ${run_seq}, and is reported as ${before} before`);
      }
      last.set(name, current);
    }
  }
  found.events = events.length;
  found.twinEvents = await twin.monitors.events.countDocuments({ monitor_id });
  found.runs = await product.monitors.runs.countDocuments({ monitor_id });
  found.twinRuns = await twin.monitors.runs.countDocuments({ monitor_id });
}

/**
 * Returns which truth SAM.gov last told about a vendor up to a time, to all and to the monitor's organization only; whether only
 * as a flag; and whether the files were cut later.
 */
async function askedAbout(
  { verification }: Product,
  { world, vendor, watching, until }: { world: World; vendor: Vendor; watching: Watched; until: Date },
): Promise<string> {
  const { live } = verification.databases;
  const keys = [questionKey(vendor), questionKey({ ...vendor, uei: "" })];
  const kept = await queueCollections(live)
    .publicAnswers.find({ _id: { $in: keys }, asked_at: { $lte: until } })
    .toArray();
  const { organizationId: organization_id } = watching.caller.tenant;
  const of = { organization_id, entity_id: watching.entityId, check_type: "sam_registration" } as const;
  const own = await collectionsOf(live).latestAnswers.find(latestOfVendor(of)).toArray();
  const { registryCutDate, exclusionsCutDate } = world.recordOf(vendor);
  const truthAt = (date: Date) => vendor.history.findLastIndex(({ at }) => at <= date);
  const known = kept.map(({ _id, asked_at, parts }) => {
    const isNewer = [registryCutDate, exclusionsCutDate].map((cutDate) => utcDay(asked_at) >= cutDate);
    return [_id, truthAt(asked_at), parts.exclusions?.flagged, ...isNewer];
  });
  const ownParts = own.flatMap(({ _id, parts = {} }) =>
    Object.entries(parts).flatMap(([name, { origin, date, flagged }]) =>
      origin === "sam_gov_api" && date <= until ? [[_id, name, truthAt(date), flagged]] : [],
    ),
  );
  return JSON.stringify([...known, ...ownParts].toSorted());
}

function sorted(fields: Readonly<Record<string, string | null>> | undefined): string {
  return JSON.stringify(Object.entries(fields ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
