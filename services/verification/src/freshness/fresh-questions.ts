import type { Logger } from "@vvs/logging";
import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import { callsToKeepFresh, newestParts, startOfUtcDay, utcDay } from "@vvs/registration";
import type { UpdateOneModel } from "mongodb";
import type { Subjects } from "../checks/subjects.ts";
import { exclusionsAsked, isRegistered } from "../providers/sam-gov/asking-about.ts";
import { MAX_VALUES } from "../providers/sam-gov/client.ts";
import { filePartsOf } from "../providers/sam-gov/file-parts.ts";
import type { RegistryReader } from "../providers/sam-gov/registry-reader.ts";
import type { AskedProvider, FreshVendors } from "../questions/asked.ts";
import type { PublicAnswer, QuestionDocument, QueueCollections } from "../questions/documents.ts";
import { questionKey, questionKind } from "../questions/question.ts";
import { afterFailure, DAY_MS } from "../questions/rules.ts";
import { UNKNOWN_DATE, type WatchCollections, type WatchedQuestion } from "../questions/watch-documents.ts";
import {
  allFreshPriorities,
  askedEveryMs,
  dueAt,
  type FreshPriority,
  isFreshPriority,
} from "../questions/watch-frequency.ts";
import { vendorOf } from "./watch-records.ts";
import type { Watch } from "./watches.ts";

/** How long nothing is asked to keep data fresh after files or identifiers could not be read, in milliseconds. */
const PAUSE_MS = 60_000;

/**
 * The watched vendors whose data is older than their monitors' frequency, as questions that fill the calls of runs. They are
 * read when a call has room, and never stored as questions.
 */
export function createFreshQuestions(options: {
  collections: QueueCollections & WatchCollections;
  registry: RegistryReader;
  subjects: Pick<Subjects, "read">;
  putWatch: (watch: Watch) => Promise<void>;
  provider: Pick<AskedProvider, "callsLeftForFreshness">;
  /** Returns the live loads that were withdrawn, all of them. */
  withdrawnLoads: () => Promise<readonly string[]>;
  /** Returns the ids of all suspended organizations, whose monitors do not run. */
  suspendedOrganizations: () => Promise<readonly string[]>;
  logger: Logger;
}): FreshVendors & {
  fileOf: (key: string) => RegistryAnswer | undefined;
  refresh: () => Promise<void>;
} {
  const { collections, registry, subjects, putWatch, provider, logger } = options;
  const { watches, watched, days, publicAnswers } = collections;
  let pausedUntil = new Date(0);
  let suspended: readonly string[] = [];
  /** The files' records of the vendors that were looked up last. */
  let files = new Map<string, RegistryAnswer>();

  /**
   * Returns how many calls may still be made today, without what is planned for runs for the rest of the day, and which
   * vendors may be asked about with them: the more frequent ones keep what they need until the day is over.
   */
  async function affordable(now: Date): Promise<{ callsLeft: number; priorities: FreshPriority[] }> {
    const [today, yesterday] = [utcDay(now), utcDay(new Date(now.getTime() - DAY_MS))];
    const newest = await days
      .find({ _id: { $in: [today, yesterday] } })
      .sort({ _id: -1 })
      .toArray();
    const planned = newest.find(({ _id }) => _id === today)?.planned_calls ?? 0;
    const counts = newest.find(({ watched }) => watched)?.watched?.by_frequency ?? [];
    const restOfDay = 1 - (now.getTime() - startOfUtcDay(now).getTime()) / DAY_MS;
    const callsLeft = await provider.callsLeftForFreshness(planned * restOfDay);
    const priorities = allFreshPriorities.filter((priority) => {
      const before = counts.filter((count) => count.priority < priority);
      const needs = before.map((each) => callsToKeepFresh({ ...each, everyMs: askedEveryMs(each.priority) }));
      const held = needs.reduce((sum, calls) => sum + calls, 0);
      return callsLeft > held * restOfDay;
    });
    return { callsLeft, priorities };
  }

  /** Puts off the vendors that only monitors of suspended organizations watch. Returns the other questions. */
  async function ofActive(questions: readonly QuestionDocument[], now: Date): Promise<readonly QuestionDocument[]> {
    const keys = questions.flatMap(({ _id, priority }) => (isFreshPriority(priority) ? _id : []));
    if (keys.length === 0 || suspended.length === 0) return questions;
    const ofOthers = { question: { $in: keys }, organization_id: { $nin: [...suspended] } };
    const active: readonly unknown[] = await watches.distinct("question", ofOthers);
    const idle = new Set(keys.filter((key) => !active.includes(key)));
    if (idle.size === 0) return questions;
    await watched.updateMany({ _id: { $in: [...idle] } }, { $set: { due_at: new Date(now.getTime() + DAY_MS) } });
    return questions.filter(({ _id }) => !idle.has(_id));
  }

  /** Has a vendor that is known by its CAGE got a UEI? Then its monitors watch that. */
  async function hasMoved({ _id }: Pick<WatchedQuestion, "_id">): Promise<boolean> {
    const found = await watches.find({ question: _id }).limit(MAX_VALUES).toArray();
    const moved = found.map(
      async ({ _id: monitorId, organization_id: organizationId, entity_id: entityId, ...watch }) => {
        const vendor = await vendorOf(subjects, { organizationId, environment: "live" }, entityId);
        if (vendor && questionKey(vendor) === _id) return false;
        const { state_seq: stateSeq, priority } = watch;
        await putWatch({ monitorId, organizationId, entityId, stateSeq, vendor, priority: priority! });
        return true;
      },
    );
    return (await Promise.all(moved)).includes(true);
  }

  /**
   * Returns the question with what is to be asked; where a file is new enough, what is to be noted of it; and undefined where it
   * is another question now.
   */
  async function prepare(
    question: QuestionDocument,
    { file, kept, now }: { file: RegistryAnswer; kept: PublicAnswer | undefined; now: Date },
  ): Promise<QuestionDocument | { readonly updateOne: UpdateOneModel<WatchedQuestion> } | undefined> {
    const { _id, uei, priority } = question;
    if (!isFreshPriority(priority)) return question;
    const inFiles = filePartsOf(file, now);
    const { registration } = newestParts(kept?.parts ?? {}, inFiles.parts);
    const kind = questionKind({ uei, isRegistered: isRegistered(registration) });
    if (registration && dueAt(registration.date, priority) > now) {
      const { date, load } = registration;
      const known = { as_of: date, due_at: dueAt(date, priority), kind };
      const update = load ? { $set: { ...known, load } } : { $set: known, $unset: { load: true } as const };
      return { updateOne: { filter: { _id, priority }, update } };
    }
    if (!uei && (await hasMoved(question))) return undefined;
    const { asksExclusions: asks_exclusions, knowsExclusions: knows_exclusions } = exclusionsAsked(kept, inFiles, now);
    return { ...question, asks_exclusions, knows_exclusions };
  }

  return {
    /**
     * Adds vendors that are due to the questions of runs, up to a full call of each kind: the most frequent first, then the oldest.
     * Returns them with how many calls may still be made today to keep data fresh.
     */
    async fillUp(waiting, now) {
      if (now < pausedUntil) return { questions: waiting, callsLeft: 0 };
      const { callsLeft, priorities } = await affordable(now);
      if (callsLeft === 0) return { questions: waiting, callsLeft };
      const taken = [...waiting.values()].flatMap((questions) => questions.map(({ _id }) => _id));
      const filled = [...waiting].map(async ([kind, questions]) => {
        const room = MAX_VALUES - questions.length;
        if (room === 0) return [kind, questions] as const;
        const due = { kind, priority: { $in: priorities }, due_at: { $lte: now }, _id: { $nin: taken } };
        const found = await watched.find(due).sort({ priority: 1, due_at: 1 }).limit(room).toArray();
        return [kind, [...questions, ...found.map(questionOf)]] as const;
      });
      return { questions: new Map(await Promise.all(filled)), callsLeft };
    },

    /**
     * Reads which organizations are suspended; where that fails, the last known ones stay. Makes the vendors due whose data has
     * the date of a load that was withdrawn, if the loads can be read. What is known of them otherwise is found when they are
     * looked up.
     */
    async refresh() {
      suspended = await options.suspendedOrganizations().catch((err: unknown) => {
        logger.warn({ err }, "the suspended organizations can't be read; the last known ones stay in effect");
        return suspended;
      });
      const loads = await options.withdrawnLoads().catch((err: unknown) => {
        logger.warn({ err }, "the withdrawn loads can't be read; vendors whose data came with them are due later");
        return [];
      });
      if (loads.length === 0) return;
      const forgotten = { as_of: UNKNOWN_DATE, due_at: UNKNOWN_DATE };
      await watched.updateMany({ load: { $in: [...loads] } }, { $set: forgotten, $unset: { load: true } });
    },

    /**
     * Returns the questions that are still to be asked, with what is asked about each. Watched vendors that a file answers leave:
     * their next time is stored. Where our own data can't be read, only the questions of runs are returned.
     */
    async lookUp(questions, now) {
      files = new Map();
      const ofRuns = questions.filter(({ priority }) => !isFreshPriority(priority));
      try {
        const asked = await ofActive(questions, now);
        const keys = asked.flatMap(({ _id, priority }) => (isFreshPriority(priority) ? _id : []));
        const find = () => publicAnswers.find({ _id: { $in: keys } }, { projection: { bodies: 0 } }).toArray();
        const kept = keys.length > 0 ? find() : [];
        const read = asked.map(
          async ({ _id, uei, cage }) =>
            [_id, await registry.getRegistryRecord({ environment: "live", uei, cage })] as const,
        );
        files = new Map(await Promise.all(read));
        const keptOf = new Map((await kept).map((answer) => [answer._id, answer]));
        const prepared = await Promise.all(
          asked.map((question) => {
            const file = files.get(question._id);
            return file ? prepare(question, { file, kept: keptOf.get(question._id), now }) : question;
          }),
        );
        const known = prepared.filter((each) => each !== undefined);
        const notes = known.filter((each) => "updateOne" in each);
        if (notes.length > 0) await watched.bulkWrite(notes, { ordered: false });
        return known.flatMap((each) => ("updateOne" in each ? [] : each));
      } catch (err) {
        const vendors = questions.length - ofRuns.length;
        logger.warn(
          { err, vendors },
          "the files can't be read: only runs are answered meanwhile, and what differs is not announced",
        );
        pausedUntil = new Date(now.getTime() + PAUSE_MS);
        return ofRuns;
      }
    },

    /** Returns the files' record of a vendor that was looked up for the last call. */
    fileOf: (key) => files.get(key),

    /** Puts off a question after a call about it only has failed. */
    async putOff({ _id, ...failed }, now) {
      const { not_before: due_at, failures, kind } = afterFailure(failed, now);
      await watched.updateOne({ _id, failures: failed.failures }, { $set: { due_at, failures, kind } });
    },
  };
}

function questionOf({ _id, uei, cage, kind, priority, due_at, failures }: WatchedQuestion): QuestionDocument {
  const times = { wanted_at: due_at, turn: due_at, not_before: due_at };
  return { ...{ _id, uei, cage, kind, priority, failures, runs: 0, asks_exclusions: false }, ...times };
}
