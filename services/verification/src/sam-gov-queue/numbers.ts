import { callsForAbsent, callsForRegistered, startOfUtcDay, utcDay } from "@vvs/registration";
import type { QueueCollections } from "../questions/documents.ts";
import { DAY_MS } from "../questions/rules.ts";

/** Number of days whose new questions the plan for tomorrow averages. */
const AVERAGED_DAYS = 7;

/** The numbers of the queue at one moment. */
export interface QueueNumbers {
  readonly parked: Readonly<Record<"waiting" | "ready", number>>;
  /** When the oldest parked run was parked; undefined where there is none. */
  readonly oldestParkedAt: Date | undefined;
  readonly questions: number;
  readonly callsPlannedTomorrow: number;
}

/** How many vendors are to be asked, by whether SAM.gov is expected to have a registration. */
interface Vendors {
  readonly registered: number;
  readonly absent: number;
}

/** What tomorrow's calls are planned from. */
export interface Demand {
  /** Questions that wait now. */
  readonly waiting: Vendors;
  /** Kept answers that are asked for again tomorrow. */
  readonly dueAgain: Vendors;
  /** New questions a day, on average. */
  readonly newPerDay: number;
}

/** Returns the calls that are planned for tomorrow, as if nothing more were asked today. */
export function callsPlanned({ waiting, dueAgain, newPerDay }: Demand): number {
  const registered = waiting.registered + dueAgain.registered + Math.ceil(newPerDay);
  return callsForRegistered(registered) + callsForAbsent(waiting.absent + dueAgain.absent);
}

/** Returns the average of the days that are known, at most the last seven; today counts only where no other day is known. */
export function averagePerDay(byDay: ReadonlyMap<string, number>, firstDay: string | undefined, now: Date): number {
  const today = utcDay(now);
  if (!firstDay || firstDay >= today) return byDay.get(today) ?? 0;
  const days = Array.from({ length: AVERAGED_DAYS }, (_, index) =>
    utcDay(new Date(now.getTime() - (index + 1) * DAY_MS)),
  );
  const known = days.filter((day) => day >= firstDay);
  return known.reduce((sum, day) => sum + (byDay.get(day) ?? 0), 0) / known.length;
}

/** Reads the numbers of the queue, with calls that are counted by indexes. Errors: the database's. */
export async function readQueueNumbers(collections: QueueCollections, now: Date): Promise<QueueNumbers> {
  const { parkedRuns, questions, publicAnswers } = collections;
  const tomorrow = new Date(startOfUtcDay(now).getTime() + DAY_MS);
  const absentAgain = { ask_again_at: tomorrow, "parts.registration.listed_as": "not_found" };
  const idsAgain = { ask_again_at: tomorrow, "parts.registration.id_only": true };
  const [waiting, ready, oldest, registered, absent, single, dueAgain, notFound, idOnly, newPerDay] = await Promise.all(
    [
      parkedRuns.countDocuments({ state: "waiting" }),
      parkedRuns.countDocuments({ state: "ready" }),
      parkedRuns.findOne({}, { sort: { parked_at: 1 }, projection: { parked_at: 1 } }),
      questions.countDocuments({ kind: "registered" }),
      questions.countDocuments({ kind: "absent" }),
      questions.countDocuments({ kind: "single" }),
      publicAnswers.countDocuments({ ask_again_at: tomorrow }),
      publicAnswers.countDocuments(absentAgain),
      publicAnswers.countDocuments(idsAgain),
      newQuestionsPerDay(collections, now),
    ],
  );
  const again = { registered: dueAgain - notFound - idOnly, absent: notFound + idOnly };
  const demand = { waiting: { registered, absent }, dueAgain: again, newPerDay };
  return {
    parked: { waiting, ready },
    oldestParkedAt: oldest?.parked_at,
    questions: registered + absent + single,
    callsPlannedTomorrow: callsPlanned(demand) + 2 * single,
  };
}

/** Counts new questions by the day on which they were asked: those that were answered, and those that still wait. */
async function newQuestionsPerDay({ days, questions }: QueueCollections, now: Date): Promise<number> {
  const since = new Date(startOfUtcDay(now).getTime() - AVERAGED_DAYS * DAY_MS);
  const starts = Array.from({ length: AVERAGED_DAYS + 1 }, (_, index) => new Date(since.getTime() + index * DAY_MS));
  const [first, answered, waiting] = await Promise.all([
    days.findOne({}, { sort: { day: 1 } }),
    days.find({ day: { $gte: since } }).toArray(),
    Promise.all(
      starts.map(async (day) => {
        const wanted_at = { $gte: day, $lt: new Date(day.getTime() + DAY_MS) };
        return [utcDay(day), await questions.countDocuments({ priority: 1, wanted_at })] as const;
      }),
    ),
  ]);
  const byDay = new Map(waiting);
  for (const { _id, new_questions = 0 } of answered) byDay.set(_id, (byDay.get(_id) ?? 0) + new_questions);
  return averagePerDay(byDay, first?._id, now);
}
