import { inTransaction } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { ClientSession, MongoClient } from "mongodb";
import type { QueueCollections } from "../questions/documents.ts";
import type { NotedAnswers, SettledQuestion } from "../questions/settled.ts";
import { keepAnswers } from "./public-answers.ts";

/** This process no longer asks: another one has taken over. */
export class AskerReplacedError extends Error {
  override readonly name = "AskerReplacedError";
}

/** When a call was made, and in which term of the asker. */
export interface CallTime {
  readonly at: Date;
  readonly term: number;
}

export type Settle = (settled: readonly SettledQuestion[], time: CallTime) => Promise<void>;

/**
 * Creates the function that stores the results of a call: it keeps the answers, removes the questions, and makes the runs
 * that wait for them ready, all or nothing. A run that is parked at the same moment writes its question too, so it either
 * becomes ready here, or its transaction is repeated and sees the answer. Errors: AskerReplacedError, with nothing stored.
 */
export function createSettle(options: {
  client: MongoClient;
  collections: QueueCollections;
  /** Returns false once another process has become the asker since. Written in the transaction, so that it is still true at its commit. */
  isAsker: (session: ClientSession, term: number) => Promise<boolean>;
  /** Notes in the transaction what the answers say of watched vendors. */
  noteAnswers: (session: ClientSession, answers: NotedAnswers) => Promise<void>;
}): Settle {
  const { client, collections, isAsker } = options;
  const { parkedRuns, questions, days } = collections;
  return (settled, { at, term }) =>
    inTransaction(client, async (session) => {
      if (!(await isAsker(session, term))) throw new AskerReplacedError("another process asks SAM.gov's API now");
      const keys = settled.map(({ question }) => question._id);
      const received = settled.flatMap(({ answer }) => answer ?? []);
      const changes = await keepAnswers(session, collections, received);
      await options.noteAnswers(session, { settled, changes, at });
      await questions.deleteMany({ _id: { $in: keys } }, { session });
      const waiting = { question: { $in: keys }, state: "waiting" as const };
      await parkedRuns.updateMany(waiting, { $set: { state: "ready" } }, { session });
      await days.bulkWrite(countsOf(settled, at), { session });
    });
}

/** Returns the updates of days' numbers. */
function countsOf(settled: readonly SettledQuestion[], at: Date) {
  const firsts = settled.filter(({ question }) => question.priority === 1);
  const askedOn = Map.groupBy(firsts, ({ question }) => startOfUtcDay(question.wanted_at).getTime());
  const count = (day: Date, $inc: Readonly<Record<string, number>>) => ({
    updateOne: {
      filter: { _id: utcDay(day) },
      update: { $setOnInsert: { day: startOfUtcDay(day) }, $inc },
      upsert: true,
    },
  });
  return [
    count(at, { vendors_asked: settled.length }),
    ...[...askedOn].map(([day, each]) => count(new Date(day), { new_questions: each.length })),
  ];
}
