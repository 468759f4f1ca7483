import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Outbox } from "@vvs/outbox";
import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import { RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { factsOf, registryDay, verdictOf } from "@vvs/registration";
import type { ClientSession } from "mongodb";
import { isRegistered } from "../providers/sam-gov/asking-about.ts";
import { partsOnFile } from "../providers/sam-gov/file-parts.ts";
import type { QueueCollections } from "../questions/documents.ts";
import { type QuestionKind, questionKinds } from "../questions/question.ts";
import { DAY_MS } from "../questions/rules.ts";
import type { NotedAnswers, SettledQuestion } from "../questions/settled.ts";
import type { WatchCollections } from "../questions/watch-documents.ts";
import { dueAtExpression } from "../questions/watch-frequency.ts";

/** Maximum number of entities in a record. */
const RECORD_ENTITIES = 500;

/**
 * Creates the function that stores what a call says of watched vendors: the date of their data, also where the answer is the
 * same as before, and when each is due again. Where the answer differs, it publishes which entities it is about, as a load of
 * a file does, so that their monitors run; those whose status differs immediately. An entity all of whose monitors wait for the
 * answer is left out.
 */
export function createNoteAnswers(options: {
  collections: WatchCollections & Pick<QueueCollections, "parkedRuns">;
  outbox: Pick<Outbox, "append">;
  /** Full name of the live topic registry.changed. */
  topic: string;
  /** Returns the files' record of a vendor; undefined where it could not be read: its runs find out what differs. */
  fileOf: (key: string) => RegistryAnswer | undefined;
  now: () => Date;
}): (session: ClientSession, answers: NotedAnswers) => Promise<void> {
  const { collections, outbox, topic, fileOf, now } = options;
  const { watches, watched, parkedRuns } = collections;

  async function noteDates(session: ClientSession, { settled, at }: NotedAnswers): Promise<void> {
    const answered = Map.groupBy(settled, kindAfter);
    const updates = [...questionKinds, "none" as const].flatMap((kind) => {
      const _id = { $in: (answered.get(kind) ?? []).map(({ question }) => question._id) };
      if (_id.$in.length === 0) return [];
      // SAM.gov can't answer about these, today.
      if (kind === "none") return { updateMany: { filter: { _id }, update: { $set: { due_at: after(at, DAY_MS) } } } };
      const newest = { as_of: { $max: ["$as_of", at] }, load: "$$REMOVE", kind, failures: 0 };
      const update = [{ $set: { ...newest, writes: { $add: ["$writes", 1] } } }, { $set: { due_at: dueAtExpression } }];
      return { updateMany: { filter: { _id }, update } };
    });
    if (updates.length > 0) await watched.bulkWrite(updates, { session });
  }

  async function publishChanges(session: ClientSession, { changes, at }: NotedAnswers): Promise<void> {
    const differing = changes.flatMap(({ before, after: kept }) => {
      const { _id } = kept;
      const file = fileOf(_id);
      if (!file) return [];
      const difference = differenceOf(partsOnFile(file, { kept: before }, at), partsOnFile(file, { kept }, at), at);
      return difference ? [[_id, difference] as const] : [];
    });
    if (differing.length === 0) return;
    const differences = new Map(differing);
    const question = { $in: [...differences.keys()] };
    // These runs get the answer anyway.
    const waiting = await parkedRuns.distinct("monitor_id", { question, state: "waiting" }, { session });
    const found = await watches
      .aggregate<{ _id: { entity: string; question: string } }>(
        [
          { $match: { question, _id: { $nin: waiting } } },
          { $group: { _id: { entity: "$entity_id", question: "$question" } } },
        ],
        { session },
      )
      .toArray();
    const entities = found.map(({ _id }) => _id).toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
    // Not the time of the call: runs that began between it and this transaction did not see the answers.
    const changedAt = timestampFromDate(now());
    const loadId = `answers:${differing[0]![0]}:${at.toISOString()}`;
    for (let index = 0; index < entities.length; index += RECORD_ENTITIES) {
      const part = entities.slice(index, index + RECORD_ENTITIES);
      const id = `${loadId}:${index}`;
      const message = create(RegistryChangedSchema, {
        ...{ recordId: id, loadId, changedAt },
        entityIds: part.map(({ entity }) => entity),
        urgentEntityIds: part.flatMap(({ entity, question }) => (differences.get(question) === "status" ? entity : [])),
      });
      await outbox.append(session, {
        id,
        topic,
        key: loadId,
        seq: index,
        value: toBinary(RegistryChangedSchema, message),
      });
    }
  }

  return async (session, answers) => {
    await noteDates(session, answers);
    await publishChanges(session, answers);
  };
}

/** Returns how a vendor that answered is asked next; `none` where it has no answer. */
function kindAfter({ question, answer }: SettledQuestion): QuestionKind | "none" {
  if (!answer) return "none";
  if (!question.uei) return "single";
  return isRegistered(answer.parts.registration) ? "registered" : "absent";
}

/**
 * Returns whether what monitors watch differs, and whether the status does; undefined where it does not, or where nobody can
 * tell since the parts before do not suffice.
 */
function differenceOf(
  before: Parameters<typeof factsOf>[0],
  now: Parameters<typeof factsOf>[0],
  at: Date,
): "status" | "facts" | undefined {
  const today = registryDay(at);
  const [was, is] = [verdictOf(before, today), verdictOf(now, today)];
  if (!was || !is) return undefined;
  if (was.reason !== is.reason) return "status";
  const factsBefore = factsOf(before, was, today);
  const facts = factsOf(now, is, today);
  return JSON.stringify(factsBefore) === JSON.stringify(facts) ? undefined : "facts";
}

function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
