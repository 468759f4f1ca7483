import { inTransaction } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { ClientSession, MongoClient } from "mongodb";
import type { QueueCollections } from "../questions/documents.ts";
import { lacksRows, publicAnswerAfter, type ReceivedAnswer } from "../questions/rules.ts";
import type { KeptChange, NotedAnswers, SettledQuestion } from "../questions/settled.ts";

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

/** Keeps answers, apart from those that are older than the kept ones. Returns what changed. */
async function keepAnswers(
  session: ClientSession,
  { publicAnswers }: Pick<QueueCollections, "publicAnswers">,
  received: readonly ReceivedAnswer[],
): Promise<KeptChange[]> {
  const keys = received.map(({ key }) => key);
  // Bodies are large, and only an answer that lacks rows takes them over.
  const projection = received.some(lacksRows) ? undefined : { bodies: 0 };
  const found = await publicAnswers.find({ _id: { $in: keys } }, { session, projection }).toArray();
  const known = new Map(found.map((answer) => [answer._id, answer]));
  const isOlder = ({ key, askedAt }: ReceivedAnswer) => askedAt < (known.get(key)?.asked_at ?? askedAt);
  const newer = received.filter((answer) => !isOlder(answer));
  if (newer.length === 0) return [];
  const changes = newer.map((answer) => {
    const before = known.get(answer.key);
    return { before, after: publicAnswerAfter(before, answer) };
  });
  const replacements = changes.map(({ after: { _id, ...replacement } }) => {
    return { replaceOne: { filter: { _id }, replacement, upsert: true } };
  });
  await publicAnswers.bulkWrite(replacements, { session });
  return changes;
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
