import type { Logger } from "@vvs/logging";
import { createLeases, type LeasedWork, type Leases, runLeasedWork, shardOf } from "@vvs/outbox";
import type { Db } from "mongodb";
import { type Frequency, frequencies } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import {
  advanced,
  isBehind,
  nextSlice,
  restarted,
  type Slice,
  type SweepPosition,
  withinOnePeriod,
} from "../model/position.ts";
import type { Judge } from "./judge.ts";
import type { PositionStore } from "./positions.ts";
import { withoutStanding } from "./standing.ts";
import type { StandingStore } from "./standing-store.ts";
import type { SweepMetrics } from "./sweep-metrics.ts";

/** Maximum number of monitors read at once: four calls of verification, which its replicas share. */
const LOT = 2_000;
/**
 * How long after its due time a check is made at the earliest, in milliseconds. A run that ended shortly before is stored by
 * then, also where two replicas' clocks differ by a minute.
 */
export const MARGIN_MS = 90_000;
/** Minimum time between two looks for the monitors of a frequency, in milliseconds. So that few calls judge many. */
const EVERY_MS = 30_000;
/** One process sweeps. Judging is most of the work, and its calls are spread over verification's replicas. */
const SHARD = shardOf("sweep");
/** Pause between two looks for extra runs that are due, in milliseconds. */
const POLL_MS = 1_000;

interface SweepOptions {
  readonly standing: StandingStore;
  readonly positions: PositionStore;
  readonly judge: Judge;
  /** Returns whether the organization is suspended. Its monitors stop standing. */
  readonly isSuspended: (organizationId: string) => boolean;
  readonly runTimeoutMs: number;
  readonly metrics: SweepMetrics;
  readonly now: () => Date;
}

/**
 * Creates a function that makes the next scheduled checks of standing monitors that are due, of each frequency a limited
 * number, and returns whether there may be more. Those that find nothing new write
 * nothing but the position of their frequency. A monitor that differs stops standing before the position moves, and is due.
 * So is one with an extra run that is due, and one of a suspended organization. After a crash, or where another replica has
 * taken over, checks are made again, which changes nothing. Errors: those of the database and of verification.
 */
export function createSweep(options: SweepOptions & { leases: Pick<Leases, "held"> }) {
  const { standing, positions, judge, isSuspended, runTimeoutMs, metrics, leases, now } = options;
  const mayGoOn = () => leases.held().includes(SHARD);

  const end = (monitors: readonly MonitorDocument[], positionOf: (frequency: Frequency) => SweepPosition | undefined) =>
    standing.end(
      monitors.map((seen) => ({ seen, next: withoutStanding(seen, positionOf(seen.frequency), runTimeoutMs) })),
    );

  /** Ends the standing of monitors with an extra run that is due. */
  async function endDueExtras(): Promise<void> {
    for (let isMore = true; isMore && mayGoOn(); ) {
      const due = await standing.withDueExtra(now(), LOT);
      if (due.length === 0) return;
      const known = await positions.readAll();
      const ended = await end(due, (frequency) => known.get(frequency));
      isMore = due.length === LOT && ended > 0;
    }
  }

  /** Makes the checks of these monitors, and ends the standing of those that differ. */
  async function check(monitors: readonly MonitorDocument[], { startsAt }: Slice, position: SweepPosition) {
    const isDue = ({ standing, next_run_at }: MonitorDocument) =>
      next_run_at !== undefined && next_run_at.getTime() <= startsAt + standing!.offset_ms!;
    const { out = [], asked = [] } = Object.groupBy(monitors, (each) =>
      isSuspended(each.organization_id) ? "out" : isDue(each) ? "asked" : "later",
    );
    const { findings, ...judged } =
      asked.length > 0 ? await judge(asked) : { findings: [], isOverdue: false, dataAsOf: undefined };
    const different = asked.filter((_, index) => findings[index] === "different");
    await end([...out, ...different], () => position);
    metrics.checked(findings);
    return judged;
  }

  /** Makes the next checks of a frequency. Returns its new position; undefined where another replica has moved it. */
  async function sweepSome(seen: SweepPosition, until: Date): Promise<SweepPosition | undefined> {
    const isFresh = isBehind(seen) && !(await judge([])).isOverdue;
    const position = withinOnePeriod(isFresh ? restarted(seen) : seen, until);
    const slice = nextSlice(position, until);
    const lot = await standing.inSlice(position._id, slice, LOT);
    const placeOf = (monitor: MonitorDocument) => monitor.standing!.offset_ms!;
    const isFull = lot.length === LOT;
    // A full lot may end amid the monitors at a place. They come with the next lot, or all now where they fill this one.
    const stop = isFull ? placeOf(lot.at(-1)!) : slice.to + 1;
    const before = lot.filter((monitor) => placeOf(monitor) < stop);
    const isOnePlace = isFull && before.length === 0;
    const judged = await check(isOnePlace ? await standing.at(position._id, stop) : before, slice, position);
    const to = isOnePlace ? stop : stop - 1;
    const next = advanced(position, new Date(slice.startsAt + to), judged);
    return (await positions.move(seen, next)) ? next : undefined;
  }

  /** Makes the next checks of a frequency, if there may be any. Returns whether there may be more. */
  async function sweep(frequency: Frequency, stored: SweepPosition | undefined): Promise<boolean> {
    const until = new Date(now().getTime() - MARGIN_MS);
    if (!stored) await positions.start(frequency, until);
    if (!stored || until.getTime() - stored.swept_to.getTime() < EVERY_MS || !mayGoOn()) return false;
    const position = await sweepSome(stored, until);
    return position !== undefined && position.swept_to < until;
  }

  return async (): Promise<boolean> => {
    await endDueExtras();
    const stored = await positions.readAll();
    const swept = await Promise.allSettled(frequencies.map((frequency) => sweep(frequency, stored.get(frequency))));
    const failed = swept.find((each) => each.status === "rejected");
    if (failed) throw failed.reason;
    return swept.some((each) => each.status === "fulfilled" && each.value);
  };
}

/** Makes the scheduled checks of standing monitors until stopped. Of the replicas of the service, one does it at a time. */
export function runSweep(options: SweepOptions & { db: Db; logger: Logger }): LeasedWork {
  const { db, logger } = options;
  const leases = createLeases({ db, name: "sweep" });
  const sweep = createSweep({ ...options, leases });
  const work = async () => {
    if (await sweep()) sweeping.nudge();
  };
  const sweeping = runLeasedWork({ leases, pollMs: POLL_MS, work, logger });
  return sweeping;
}
