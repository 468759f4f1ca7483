import { createBatcher } from "@vvs/batching";
import type { Check } from "@vvs/checks";
import { type Parts, registryDay, verdictOf } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import type { AnyBulkWriteOperation, Collection, Document, Filter } from "mongodb";
import type { AnswerDocument } from "../documents.ts";
import { answerFrom } from "../providers/sam-gov/judge.ts";
import type { PublicAnswer } from "../questions/documents.ts";

/** The question of a stored answer. */
export interface AnswerKey {
  readonly entityId: string;
  readonly check: Check;
  readonly fingerprint: string;
}

type PartName = keyof Parts;

/** The newest answer of an organization to a question. */
export interface LatestAnswerDocument {
  /** `<organization>|<entity>|<check>|<fingerprint of the inputs>`. */
  readonly _id: string;
  readonly organization_id: string;
  /** The answer that was stored last. */
  readonly answer: AnswerDocument;
  /** The newest of each part among all answers; calls that overlap may store an older part later. */
  readonly parts?: Parts;
}

/** Maximum number of answers read in one command. */
const MAX_TOGETHER = 32;
/** Maximum number of commands in flight; further reads wait and share the next one. One makes the largest batches. */
const COMMANDS_AT_ONCE = 1;

/** What is stored of a question. */
export interface KnownAnswers {
  /** The tenant's newest answer; null where it has none. */
  readonly newest: AnswerDocument | null;
  /** The answer that is kept for all organizations; undefined where there is none, or it was not asked for. */
  readonly kept: PublicAnswer | undefined;
}

/**
 * Reads a tenant's newest answer to a question, and the public answer with the key `publicKey` where that is given. Errors: the
 * database's.
 */
export type ReadKnownAnswers = (tenant: Tenant, key: AnswerKey, publicKey?: string) => Promise<KnownAnswers>;

type Question = Pick<AnswerDocument, "organization_id" | "entity_id" | "check_type" | "inputs_fingerprint">;

/** Creates the reader of one environment's answers. Reads at the same moment share a command. */
export function createReadKnownAnswers(
  collections: {
    latestAnswers: Collection<LatestAnswerDocument>;
    publicAnswers: Pick<Collection<PublicAnswer>, "collectionName">;
  },
  maxTogether = MAX_TOGETHER,
): ReadKnownAnswers {
  const { latestAnswers, publicAnswers } = collections;
  // All documents in the first reply, since a second one would cost another round trip: two for each read.
  const oneReply = { batchSize: 2 * maxTogether + 1 };

  async function find(ids: readonly string[], publicKeys: readonly string[]) {
    const latest = { _id: { $in: ids } };
    if (publicKeys.length === 0) return { latest: await latestAnswers.find(latest, oneReply).toArray(), kept: [] };
    const pipeline = [{ $match: { _id: { $in: publicKeys } } }, { $project: { _id: 0, kept: "$$ROOT" } }];
    const found = await latestAnswers
      .aggregate<LatestAnswerDocument | { readonly kept: PublicAnswer }>(
        [{ $match: latest }, { $unionWith: { coll: publicAnswers.collectionName, pipeline } }],
        oneReply,
      )
      .toArray();
    return {
      latest: found.flatMap((each) => ("kept" in each ? [] : each)),
      kept: found.flatMap((each) => ("kept" in each ? each.kept : [])),
    };
  }

  const read = createBatcher<{ question: Question; publicKey: string | undefined }, KnownAnswers>({
    async run(asked) {
      const byId = new Map(asked.map(({ question }) => [latestId(question), question]));
      const publicKeys = new Set(asked.flatMap(({ publicKey }) => publicKey ?? []));
      const found = await find([...byId.keys()], [...publicKeys]);
      const newest = new Map(found.latest.map((each) => [each._id, newestOf(each)]));
      const kept = new Map(found.kept.map((each) => [each._id, each]));
      return asked.map(({ question, publicKey = "" }) => ({
        newest: newest.get(latestId(question)) ?? null,
        kept: kept.get(publicKey),
      }));
    },
    maxSize: maxTogether,
    atOnce: COMMANDS_AT_ONCE,
    // A read fails because of the database, never because of one of the keys.
    failsAll: () => true,
  });
  return ({ organizationId: organization_id }, { entityId: entity_id, check, fingerprint }, publicKey) =>
    read({
      question: { organization_id, entity_id, check_type: check, inputs_fingerprint: fingerprint },
      publicKey,
    });
}

/** Returns the answer, judged again from the newest parts where it does not have them itself. */
export function newestOf({ answer, parts }: Pick<LatestAnswerDocument, "answer" | "parts">): AnswerDocument {
  if (!parts || isSame(parts, answer.parts)) return answer;
  const verdict = verdictOf(parts, registryDay(answer.created_at));
  if (!verdict) return answer;
  const {
    outcome,
    reason,
    origin = answer.origin,
    dataDate,
    facts,
    details,
  } = answerFrom(parts, verdict, "", answer.created_at);
  const _id = parts.registration?.evidence_id ?? answer._id;
  // No part has the names of exclusions: they are those of the last answer.
  const { same_name, same_name_unknown } = answer.details ?? {};
  const names = { ...(same_name && { same_name }), ...(same_name_unknown && { same_name_unknown }) };
  const shown = details && { details: { ...details, ...names } };
  return { ...answer, _id, outcome, reason, origin, data_date: dataDate, facts, ...shown, parts };
}

function isSame(parts: Parts, others: Parts | undefined): boolean {
  const dates = (of: Parts | undefined) => [of?.registration?.date.getTime(), of?.exclusions?.date.getTime()].join();
  return dates(parts) === dates(others);
}

/**
 * Returns the writes that make answers the latest, in the order of their ids, so that transactions meet in one order. `firsts` are the
 * ids of answers that are inserted, before the others: of each question at most one, and its write fails where there is an answer.
 */
export function latestWrites(
  answers: readonly AnswerDocument[],
  withdrawnLoads: readonly string[],
  firsts: readonly string[] = [],
): AnyBulkWriteOperation<LatestAnswerDocument>[] {
  const sorted = answers
    .map((answer) => ({ _id: latestId(answer), answer }))
    .toSorted((a, b) => (a._id < b._id ? -1 : 1));
  const inserted = new Map(sorted.filter(({ answer }) => firsts.includes(answer._id)).map((each) => [each._id, each]));
  const others = sorted.filter((each) => inserted.get(each._id) !== each);
  return [
    ...[...inserted.values()].map(({ _id, answer }) => ({
      insertOne: {
        document: {
          _id,
          organization_id: answer.organization_id,
          answer,
          ...(answer.parts && { parts: answer.parts }),
        },
      },
    })),
    ...others.map(({ _id, answer }) => ({
      updateOne: { filter: { _id }, update: latestPipeline(answer, withdrawnLoads), upsert: true },
    })),
  ];
}

/** Returns the id of the document with the newest answer to a question. */
export function latestId({ organization_id, entity_id, check_type, inputs_fingerprint }: Question): string {
  return [organization_id, entity_id, check_type, inputs_fingerprint].join("|");
}

/** Returns the filter of the newest answers to all questions of a check about an organization's vendor. */
export function latestOfVendor(of: Omit<Question, "inputs_fingerprint">): Filter<LatestAnswerDocument> {
  const [from, before] = ["|", "}"].map((end) => [of.organization_id, of.entity_id, of.check_type].join("|") + end);
  return { _id: { $gte: from!, $lt: before! } };
}

/**
 * Returns the update by which an answer joins the latest one. A part gives way to one that is as new or newer, and where its
 * load was withdrawn; the answer itself to a later one, by time and then by id.
 */
function latestPipeline(answer: AnswerDocument, withdrawnLoads: readonly string[]): Document[] {
  const parts = Object.keys(answer.parts ?? {}) as PartName[];
  const isNone = (field: string) => ({ $eq: [{ $type: field }, "missing"] });
  const isAt = { $eq: ["$incoming.created_at", "$answer.created_at"] };
  const isLater = {
    $or: [
      isNone("$answer"),
      { $gt: ["$incoming.created_at", "$answer.created_at"] },
      { $and: [isAt, { $gte: ["$incoming._id", "$answer._id"] }] },
    ],
  };
  const newerPart = (name: PartName) => {
    const [stored, received] = [`$parts.${name}`, `$incoming.parts.${name}`];
    const isWithdrawn = { $in: [`${stored}.load`, withdrawnLoads] };
    const replaces = { $or: [isNone(stored), isWithdrawn, { $gte: [`${received}.date`, `${stored}.date`] }] };
    return [`parts.${name}`, { $cond: [replaces, received, stored] }] as const;
  };
  const newer = {
    organization_id: "$incoming.organization_id",
    answer: { $cond: [isLater, "$incoming", "$answer"] },
    ...Object.fromEntries(parts.map(newerPart)),
  };
  return [{ $set: { incoming: { $literal: answer } } }, { $set: newer }, { $unset: "incoming" }];
}
