import { createGroupCommit, inTransaction } from "@vvs/mongo";
import type { ClientSession, Filter, MongoClient } from "mongodb";
import type { ParkedRun, QuestionDocument, QueueCollections } from "../questions/documents.ts";
import { type Asking, questionKey, questionKind } from "../questions/question.ts";

/** A run to park, and what it waits for. */
export interface Parking {
  readonly run: Omit<ParkedRun, "question" | "state" | "lease">;
  readonly asking: Asking;
}

/** A monitor of an organization. */
export type MonitorKey = Pick<ParkedRun, "organization_id" | "monitor_id">;

/** Ready runs that a process wants. */
export interface Claim {
  /** Unique name of the process. */
  readonly owner: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly withTin: boolean;
}

/** How far apart the turns of an organization's rows are, in milliseconds: with these, 10,000 of them fill a day. */
const TURN_MS = 8_640;
/** Maximum number of runs of an organization that are counted for a turn. */
const MAX_TURNS = 10_000;
/** Rows of a job that leave in a transaction. */
const LEAVING_TOGETHER = 500;

export type ParkedRuns = ReturnType<typeof createParkedRuns>;

/** The runs that wait for SAM.gov's API. */
export function createParkedRuns({ client, collections }: { client: MongoClient; collections: QueueCollections }) {
  const { parkedRuns } = collections;
  return {
    /** Returns the monitor's parked run, as every newer run of it asks. */
    of: ({ organization_id, monitor_id }: MonitorKey): Promise<ParkedRun | null> =>
      parkedRuns.findOne({ organization_id, monitor_id }),

    /**
     * Parks a run with its question, and removes an older parked run of the monitor; a run that is older than the parked one
     * is dropped, and one that is parked stays as it is. Where the question was answered after the run had looked, the run
     * is ready immediately. Runs that are parked at the same moment share a transaction.
     */
    park: createGroupCommit<Parking>({ client, write: (session, parkings) => write(session, parkings, collections) }),

    /**
     * Leases up to `limit` ready runs, with or without tin_match, which have waited longest, by the database's time: no other
     * replica gets them until the lease has ended.
     */
    async claimReady({ owner, limit, leaseMs, withTin }: Claim): Promise<ParkedRun[]> {
      const checks: Filter<ParkedRun>["checks"] = withTin ? "tin_match" : { $ne: "tin_match" };
      const free: Filter<ParkedRun> = {
        state: "ready",
        checks,
        $expr: { $lte: [{ $ifNull: ["$lease.until", new Date(0)] }, "$$NOW"] },
      };
      const found = await parkedRuns
        .find(free, { projection: { _id: 1 } })
        .sort({ parked_at: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return [];
      const ids = found.map(({ _id }) => _id);
      const until = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: leaseMs } };
      await parkedRuns.updateMany({ _id: { $in: ids }, ...free }, [{ $set: { lease: { owner, until } } }]);
      return parkedRuns
        .find({ _id: { $in: ids }, "lease.owner": owner })
        .sort({ parked_at: 1 })
        .toArray();
    },

    /** Removes a run that has ended, in a transaction where a session is given. */
    async remove(
      { _id, organization_id }: Pick<ParkedRun, "_id" | "organization_id">,
      session?: ClientSession,
    ): Promise<void> {
      await parkedRuns.deleteOne({ _id, organization_id }, { session });
    },

    /** Takes a run out of the queue while a newer one is verified. Its question stays, as the newer one may ask it too. */
    async supersede({ _id, organization_id }: Pick<ParkedRun, "_id" | "organization_id">): Promise<void> {
      await parkedRuns.updateOne({ _id, organization_id }, { $set: { state: "superseded" } });
    },

    /**
     * Removes the parked run of a monitor that was canceled, or whose newer run need not wait, if it is this one or an older
     * one. Its question is removed too, unless another run waits for it.
     */
    async leave({ run_seq, ...monitor }: MonitorKey & Pick<ParkedRun, "run_seq">): Promise<void> {
      await inTransaction(client, async (session) => {
        const parked = await parkedRuns.findOneAndDelete({ ...monitor, run_seq: { $lte: run_seq } }, { session });
        if (parked) await leaveQuestions(session, [parked], collections);
      });
    },

    /** Removes the rows of a job, and the questions for which nobody else waits. */
    async leaveRows(organization_id: string, jobId: string): Promise<void> {
      const ofJob = { _id: { $gt: `${jobId}:`, $lt: `${jobId};` }, organization_id };
      for (let left = LEAVING_TOGETHER; left === LEAVING_TOGETHER; ) {
        left = await inTransaction(client, async (session) => {
          const parked = await parkedRuns.find(ofJob, { session }).limit(LEAVING_TOGETHER).toArray();
          await parkedRuns.deleteMany({ _id: { $in: parked.map(({ _id }) => _id) } }, { session });
          await leaveQuestions(session, parked, collections);
          return parked.length;
        });
      }
    },

    /** Makes all runs ready that have waited since before a time, without an answer. Returns their number. */
    async giveUp(parkedBefore: Date): Promise<number> {
      const { modifiedCount } = await parkedRuns.updateMany(
        { state: "waiting", parked_at: { $lt: parkedBefore } },
        { $set: { state: "ready" } },
      );
      return modifiedCount;
    },
  };
}

/** Takes removed runs off their questions; one for which no run waits any more is removed. Call it once the other runs are written. */
async function leaveQuestions(
  session: ClientSession,
  removed: readonly Pick<ParkedRun, "question">[],
  { parkedRuns, questions }: Pick<QueueCollections, "parkedRuns" | "questions">,
): Promise<void> {
  if (removed.length === 0) return;
  const runsOf = Map.groupBy(removed, ({ question }) => question);
  // Written in any case, so that of two last runs that leave at the same moment one sees that the other has left.
  const leaving = [...runsOf].map(([_id, runs]) => ({
    updateOne: { filter: { _id }, update: { $inc: { runs: -runs.length } } },
  }));
  await questions.bulkWrite(leaving, { session });
  const keys = [...runsOf.keys()];
  const wanted = await parkedRuns.distinct("question", { question: { $in: keys }, state: "waiting" }, { session });
  await questions.deleteMany({ _id: { $in: keys.filter((key) => !wanted.includes(key)) } }, { session });
}

async function write(
  session: ClientSession,
  parkings: readonly Parking[],
  { parkedRuns, questions, publicAnswers }: QueueCollections,
): Promise<void> {
  const parked = await parkedRuns
    .find(
      { $or: parkings.map(({ run: { organization_id, monitor_id } }) => ({ organization_id, monitor_id })) },
      { session },
    )
    .toArray();
  const newest = newestOfEach(parkings).filter(({ run }) =>
    parked.every((other) => !isSameMonitor(run, other) || other.run_seq < run.run_seq),
  );
  if (newest.length === 0) return;
  const superseded = parked.filter((other) => newest.some(({ run }) => isSameMonitor(run, other)));
  if (superseded.length > 0) {
    await parkedRuns.deleteMany({ _id: { $in: superseded.map(({ _id }) => _id) } }, { session });
  }
  const keys = [...new Set(newest.map(({ asking }) => questionKey(asking)))];
  const answered = await publicAnswers
    .find({ _id: { $in: keys } }, { session, projection: { asked_at: 1 } })
    .map(({ _id, asked_at }) => [_id, asked_at] as const)
    .toArray();
  const answeredAt = new Map(answered);
  const isWaiting = ({ asking }: Parking) => {
    const at = answeredAt.get(questionKey(asking));
    return at === undefined || (asking.knownSince !== undefined && at <= asking.knownSince);
  };
  await parkedRuns.insertMany(
    newest.map((parking) => ({
      ...parking.run,
      question: questionKey(parking.asking),
      state: isWaiting(parking) ? "waiting" : "ready",
    })),
    { session },
  );
  await leaveQuestions(session, superseded, { parkedRuns, questions });
  const waiting = newest.filter(isWaiting);
  const turns = await turnsOf(session, waiting, parkedRuns);
  const upserts = waiting.map((parking, index) => upsertOf(parking, turns[index]!));
  if (upserts.length > 0) await questions.bulkWrite(upserts, { session });
}

/** Returns the newest run of each monitor. */
function newestOfEach(parkings: readonly Parking[]): Parking[] {
  return parkings
    .filter(({ run }) => parkings.every(({ run: other }) => !isSameMonitor(run, other) || other.run_seq <= run.run_seq))
    .filter(({ run }, index, all) => all.findIndex((each) => each.run._id === run._id) === index);
}

function isSameMonitor(one: MonitorKey, other: MonitorKey): boolean {
  return one.organization_id === other.organization_id && one.monitor_id === other.monitor_id;
}

/** Returns the turns of runs that were parked: a row's is after those of its organization that wait. */
async function turnsOf(
  session: ClientSession,
  parkings: readonly Parking[],
  parkedRuns: QueueCollections["parkedRuns"],
): Promise<Date[]> {
  const rows = parkings.filter(({ run }) => run.is_row).map(({ run }) => run.organization_id);
  const waiting = new Map<string, number>();
  for (const organization_id of new Set(rows)) {
    const parked = await parkedRuns.countDocuments({ organization_id }, { session, limit: MAX_TURNS });
    waiting.set(organization_id, parked - rows.filter((id) => id === organization_id).length);
  }
  return parkings.map(({ run: { is_row, organization_id, parked_at } }) => {
    if (!is_row) return parked_at;
    const before = waiting.get(organization_id)!;
    waiting.set(organization_id, before + 1);
    return new Date(parked_at.getTime() + before * TURN_MS);
  });
}

/** Writes the question in any case, so that the transaction conflicts with one that stores the question's answer. */
function upsertOf({ asking, run: { parked_at: at } }: Parking, turn: Date) {
  const fresh: Omit<QuestionDocument, "priority" | "turn" | "runs" | "asks_exclusions" | "knows_exclusions"> = {
    _id: questionKey(asking),
    uei: asking.uei,
    cage: asking.cage,
    kind: questionKind(asking),
    wanted_at: at,
    not_before: at,
    failures: 0,
  };
  const { _id, ...onInsert } = fresh;
  return {
    updateOne: {
      filter: { _id },
      update: {
        $setOnInsert: onInsert,
        $min: { priority: asking.priority, turn, knows_exclusions: asking.knowsExclusions },
        $max: { asks_exclusions: asking.asksExclusions },
        $inc: { runs: 1 },
      },
      upsert: true,
    },
  };
}
