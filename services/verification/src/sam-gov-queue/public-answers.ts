import type { ClientSession } from "mongodb";
import type { QueueCollections } from "./documents.ts";
import { lacksRows, publicAnswerAfter, type ReceivedAnswer } from "./rules.ts";

/** Keeps answers, apart from those that are older than the kept ones. */
export async function keepAnswers(
  session: ClientSession,
  { publicAnswers }: Pick<QueueCollections, "publicAnswers">,
  received: readonly ReceivedAnswer[],
): Promise<void> {
  const keys = received.map(({ key }) => key);
  // Bodies are large, and only an answer that lacks rows takes them over.
  const projection = received.some(lacksRows) ? undefined : { bodies: 0 };
  const found = await publicAnswers.find({ _id: { $in: keys } }, { session, projection }).toArray();
  const known = new Map(found.map((answer) => [answer._id, answer]));
  const isOlder = ({ key, askedAt }: ReceivedAnswer) => askedAt < (known.get(key)?.asked_at ?? askedAt);
  const newer = received.filter((answer) => !isOlder(answer));
  if (newer.length === 0) return;
  const replacements = newer.map((answer) => {
    const { _id, ...replacement } = publicAnswerAfter(known.get(answer.key), answer);
    return { replaceOne: { filter: { _id }, replacement, upsert: true } };
  });
  await publicAnswers.bulkWrite(replacements, { session });
}
