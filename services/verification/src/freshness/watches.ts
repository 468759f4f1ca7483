import { PoisonRecordError } from "@vvs/kafka";
import { createGroupCommit } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { QueueCollections } from "../questions/documents.ts";
import { questionKey } from "../questions/question.ts";
import { UNKNOWN_DATE, type WatchCollections, type WatchDocument } from "../questions/watch-documents.ts";
import { dueAtExpression, type FreshPriority } from "../questions/watch-frequency.ts";

/** A monitor's newest known state. */
export interface Watch {
  readonly monitorId: string;
  readonly organizationId: string;
  readonly entityId: string;
  readonly stateSeq: number;
  /** What it watches; undefined where the vendor has neither UEI nor CAGE. */
  readonly vendor: { readonly uei: string; readonly cage: string } | undefined;
  readonly priority: FreshPriority;
  /** Set once it is canceled; the vendor is then undefined. */
  readonly canceledAt?: Date | undefined;
}

type Collections = WatchCollections & Pick<QueueCollections, "publicAnswers">;

/**
 * Creates the function that stores which vendor a monitor watches, and how often any monitor needs its data. States of a monitor
 * may come repeatedly and in any order: a lower one, and any after a cancellation, has no effect. Those that come at the
 * same moment share a transaction. Errors: PoisonRecordError if the monitor is another organization's.
 */
export function createPutWatch({ client, collections }: { client: MongoClient; collections: Collections }) {
  return createGroupCommit<Watch>({ client, write: (session, watches) => write(session, watches, collections) });
}

async function write(session: ClientSession, given: readonly Watch[], collections: Collections): Promise<void> {
  const { watches } = collections;
  const ids = given.map(({ monitorId }) => monitorId);
  const found = await watches.find({ _id: { $in: ids } }, { session }).toArray();
  const known = new Map(found.map((watch) => [watch._id, watch]));
  const changed = newestOfEach(given).filter((watch) => isNews(watch, known.get(watch.monitorId)));
  if (changed.length === 0) return;
  const replacements = changed.map((watch) => {
    const { _id, ...replacement } = documentOf(watch);
    return { replaceOne: { filter: { _id }, replacement, upsert: true } };
  });
  await watches.bulkWrite(replacements, { session });
  const left = changed.flatMap(({ monitorId }) => known.get(monitorId)?.question ?? []);
  const vendors = new Map(changed.flatMap(({ vendor }) => (vendor ? [[questionKey(vendor), vendor] as const] : [])));
  await noteFrequencies(session, [...new Set([...left, ...vendors.keys()])], vendors, collections);
}

/** Stores the shortest frequency of the monitors that watch each of these vendors, and forgets those that none watches. */
async function noteFrequencies(
  session: ClientSession,
  keys: readonly string[],
  vendors: ReadonlyMap<string, NonNullable<Watch["vendor"]>>,
  { watches, watched, publicAnswers }: Collections,
): Promise<void> {
  if (keys.length === 0) return;
  // The database reads one key of the index for each vendor, however many monitors watch it.
  const shortest = await watches
    .aggregate<{ _id: string; priority: FreshPriority }>(
      [
        { $match: { question: { $in: keys } } },
        { $sort: { question: 1, priority: 1 } },
        { $group: { _id: "$question", priority: { $first: "$priority" } } },
      ],
      { session },
    )
    .toArray();
  const answered = await publicAnswers
    .find({ _id: { $in: keys } }, { session, projection: { asked_at: 1 } })
    .map(({ _id, asked_at }) => [_id, asked_at] as const)
    .toArray();
  const answeredAt = new Map(answered);
  const updates = shortest.map(({ _id, priority }) => {
    const vendor = vendors.get(_id);
    const isNew = { $ne: ["$priority", priority] };
    const stages = [
      {
        $set: {
          ...(vendor && { uei: { $literal: vendor.uei }, cage: { $literal: vendor.cage } }),
          kind: { $ifNull: ["$kind", vendor?.uei ? "registered" : "single"] },
          as_of: { $ifNull: ["$as_of", answeredAt.get(_id) ?? UNKNOWN_DATE] },
          failures: { $ifNull: ["$failures", 0] },
          writes: { $add: [{ $ifNull: ["$writes", 0] }, 1] },
          due_at: { $cond: [isNew, null, "$due_at"] },
          priority,
        },
      },
      { $set: { due_at: { $ifNull: ["$due_at", dueAtExpression] } } },
    ];
    return { updateOne: { filter: { _id }, update: stages, upsert: true } };
  });
  const unwatched = keys.filter((key) => !shortest.some(({ _id }) => _id === key));
  const removals = unwatched.map((_id) => ({ deleteOne: { filter: { _id } } }));
  await watched.bulkWrite([...updates, ...removals], { session });
}

/** Returns the newest state of each monitor; of equal ones the last. */
function newestOfEach(given: readonly Watch[]): Watch[] {
  const newest = new Map<string, Watch>();
  for (const watch of given) if (isNews(watch, newestDocument(newest, watch))) newest.set(watch.monitorId, watch);
  return [...newest.values()];
}

function newestDocument(newest: ReadonlyMap<string, Watch>, { monitorId }: Watch): WatchDocument | undefined {
  const watch = newest.get(monitorId);
  return watch && documentOf(watch);
}

/** Does the state change what is known? Of one state, a vendor whose identifiers were read later counts. */
function isNews(watch: Watch, known: WatchDocument | undefined): boolean {
  if (!known) return true;
  if (known.organization_id !== watch.organizationId) {
    throw new PoisonRecordError("the monitor belongs to another organization");
  }
  if (known.canceled_at) return false;
  if (watch.canceledAt || watch.stateSeq > known.state_seq) return true;
  return watch.stateSeq === known.state_seq && documentOf(watch).question !== known.question;
}

function documentOf({ monitorId, organizationId, entityId, stateSeq, vendor, priority, canceledAt }: Watch) {
  return {
    ...{ _id: monitorId, organization_id: organizationId, entity_id: entityId, state_seq: stateSeq },
    ...(vendor && { question: questionKey(vendor), priority }),
    ...(canceledAt && { canceled_at: canceledAt }),
  } satisfies WatchDocument;
}
