import { MAX_VALUES } from "../providers/sam-gov/client.ts";
import type { QuestionDocument, QueueCollections } from "../questions/documents.ts";
import { type QuestionKind, questionKinds } from "../questions/question.ts";
import { afterFailure } from "../questions/rules.ts";

export type Questions = ReturnType<typeof createQuestions>;

/** The vendors that are to be asked about. */
export function createQuestions({ questions }: Pick<QueueCollections, "questions">) {
  return {
    /** Returns the first questions of each kind that may be asked now, enough for a call. */
    async waiting(now: Date): Promise<ReadonlyMap<QuestionKind, QuestionDocument[]>> {
      const found = questionKinds.map(async (kind) => {
        const askable = questions.find({ kind, not_before: { $lte: now } });
        const first = await askable.sort({ priority: 1, turn: 1 }).limit(MAX_VALUES).toArray();
        return [kind, first] as const;
      });
      return new Map(await Promise.all(found));
    },

    /** Puts off a question after a call about it only has failed. */
    async putOff({ _id, ...failed }: QuestionDocument, now: Date): Promise<void> {
      await questions.updateOne({ _id, failures: failed.failures }, { $set: afterFailure(failed, now) });
    },
  };
}
