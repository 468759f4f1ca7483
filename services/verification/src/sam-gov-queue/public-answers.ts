import type { ClientSession } from "mongodb";
import type { QueueCollections } from "../questions/documents.ts";
import { lacksRows, publicAnswerAfter, type ReceivedAnswer } from "../questions/rules.ts";
import type { KeptChange } from "../questions/settled.ts";

/** Keeps answers, apart from those that are older than the kept ones. Returns what changed. */
export async function keepAnswers(
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
