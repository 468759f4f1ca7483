import { setTimeout as wait } from "node:timers/promises";
import {
  type ChangeStream,
  type Collection,
  type Db,
  MongoServerError,
  type ResumeToken,
  type Timestamp,
} from "mongodb";
import { collectionsOf, type EntityDocument } from "../model/documents.ts";
import type { IndexedEntity } from "./corpus.ts";

type Named = Pick<EntityDocument, "_id" | "organization_id" | "legal_name" | "placeholder" | "other_names">;

const FIELDS = { organization_id: 1, legal_name: 1, placeholder: 1, other_names: 1 } as const;
const BATCH = 2_000;
/** How long the server holds a request for changes while there are none. */
const AWAIT_MS = 1_000;
const MAX_OTHER_NAMES = 8;
/** MongoDB's InvalidResumeToken, ChangeStreamFatalError and ChangeStreamHistoryLost. */
const LOST: readonly number[] = [260, 280, 286];

/** A change of an entity: what it is now, or that it is gone. */
export type Change = { readonly entity: IndexedEntity } | { readonly removedId: string };

/** The entities of an environment, as they are and as they change. */
export interface Feed {
  /**
   * Tells every entity, the registry's first, then each organization's together, and returns the moment that changes
   * must be followed from. After each few thousand it rests for this share of the time that they took.
   */
  readAll(tell: (entity: IndexedEntity) => void, restShare: number): Promise<Timestamp>;
  /**
   * Tells changes since a moment, in order, until the signal; one may be told again. After each it tells until when
   * nothing is missing. Errors: the database is away, or remembers no changes that old; `resume` goes on where it was.
   */
  follow(options: FollowOptions): Promise<void>;
}

export interface FollowOptions {
  readonly from: { readonly since: Timestamp } | { readonly resumeAfter: ResumeToken };
  readonly tell: (change: Change) => void;
  /** Milliseconds since 1970, by the database's clock, until when every change was told, and from where to resume. */
  readonly onPosition: (completeUntil: number, resumeAfter: ResumeToken) => void;
  readonly signal: AbortSignal;
}

export function createFeed(db: Db, now: () => Date): Feed {
  const { entities } = collectionsOf(db);
  return {
    async readAll(tell, restShare) {
      await using session = db.client.startSession({ causalConsistency: true });
      // A majority read may lag behind writes that changes are followed after. This command's time is that of the newest
      // write, and the session's reads wait until the majority has it.
      const { operationTime } = await db.command({ ping: 1 }, { session });
      const options = { projection: FIELDS, batchSize: BATCH, session };
      const registry = entities.find({ organization_id: null }, options);
      const owned = entities.find(
        { organization_id: { $gt: "" } },
        { ...options, sort: { organization_id: 1, created_at: -1, _id: -1 } },
      );
      for (const documents of [registry, owned]) {
        let [told, beganAt] = [0, performance.now()];
        for await (const document of documents) {
          tell(indexed(document));
          if (++told % BATCH > 0) continue;
          await wait((performance.now() - beganAt) * restShare);
          beganAt = performance.now();
        }
      }
      return operationTime as Timestamp;
    },
    follow: (options) => follow(entities, now, options),
  };
}

/** Changes can be followed no further from where they were: everything must be read again. */
export function isHistoryLost(error: unknown): boolean {
  return error instanceof MongoServerError && LOST.includes(Number(error.code));
}

async function follow(entities: Collection<EntityDocument>, now: () => Date, options: FollowOptions): Promise<void> {
  const { from, tell, onPosition, signal } = options;
  const start = "since" in from ? { startAtOperationTime: from.since } : { resumeAfter: from.resumeAfter };
  const stream: ChangeStream<EntityDocument> = entities.watch<EntityDocument>(pipeline, {
    ...start,
    fullDocument: "updateLookup",
    maxAwaitTimeMS: AWAIT_MS,
  });
  const onAbort = () => void stream.close().catch(() => undefined);
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      const askedAt = now().getTime();
      const event = await stream.tryNext();
      if (!event) {
        onPosition(askedAt, stream.resumeToken);
        continue;
      }
      if (event.operationType === "delete") tell({ removedId: event.documentKey._id });
      else if (event.operationType === "insert" || event.operationType === "replace")
        tell({ entity: indexed(event.fullDocument) });
      else if (event.operationType === "update") {
        tell(event.fullDocument ? { entity: indexed(event.fullDocument) } : { removedId: event.documentKey._id });
      } else throw new Error(`the collection of entities had a change of kind ${event.operationType}`);
      if (event.clusterTime) onPosition(event.clusterTime.getHighBits() * 1_000, stream.resumeToken);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await stream.close();
  }
}

/** Names alone: an update of other fields does not concern the index. */
const pipeline = [
  {
    $match: {
      $or: [
        { operationType: { $ne: "update" } },
        ...["legal_name", "placeholder", "other_names"].map((field) => ({
          [`updateDescription.updatedFields.${field}`]: { $exists: true },
        })),
      ],
    },
  },
  {
    $project: {
      operationType: 1,
      documentKey: 1,
      clusterTime: 1,
      ...Object.fromEntries(["_id", ...Object.keys(FIELDS)].map((field) => [`fullDocument.${field}`, 1])),
    },
  },
];

function indexed({ _id, organization_id, legal_name, placeholder, other_names }: Named): IndexedEntity {
  const legalNames = placeholder ? [] : [legal_name];
  return { id: _id, owner: organization_id, names: [...legalNames, ...other_names.slice(0, MAX_OTHER_NAMES)] };
}
