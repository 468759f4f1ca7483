import { setTimeout as wait } from "node:timers/promises";
import { type ChangeStreamDocument, type Db, MongoServerError, type ResumeToken, type Timestamp } from "mongodb";
import { collectionsOf, type EntityDocument } from "../model/documents.ts";
import type { IndexedEntity } from "./corpus.ts";

const FIELDS = { organization_id: 1, legal_name: 1, placeholder: 1, other_names: 1 } as const;
const BATCH = 2_000;
/**
 * Pause after a request that returned no change, in milliseconds. The server must not hold the request instead: each write to any
 * collection would wake it there, which costs MongoDB as much as a fourth of that write.
 */
const PAUSE_MS = 250;
const MAX_OTHER_NAMES = 8;
/** MongoDB's InvalidResumeToken, ChangeStreamFatalError and ChangeStreamHistoryLost. */
const LOST: readonly number[] = [260, 280, 286];

/** The new state of an entity, or its removal. */
export type Change = { readonly entity: IndexedEntity } | { readonly removedId: string };

export type FollowFrom = { readonly since: Timestamp } | { readonly resumeAfter: ResumeToken };

/** A position in the changes of an environment. */
export interface Position {
  /** Undefined where there was no change for a while. */
  readonly change: Change | undefined;
  /** Milliseconds since 1970, by the database's clock, until which every change was returned. */
  readonly completeUntil: number;
  readonly resumeAfter: ResumeToken;
}

/** Reads the entities of an environment and follows their changes. */
export interface Feed {
  /**
   * Visits every entity, the registry's first, then each organization's together. Returns the time from which changes
   * must be followed. After each batch it pauses for `pauseShare` of the time that the batch took.
   */
  readAll(visit: (entity: IndexedEntity) => void, pauseShare: number): Promise<Timestamp>;
  /**
   * Returns changes in order, without end; after an interruption, a change may be returned again. Errors: MongoDB is
   * unavailable, or its history does not go back that far (`isHistoryLost`).
   */
  follow(from: FollowFrom): AsyncGenerator<Position, never>;
}

export function createFeed(db: Db, now: () => Date): Feed {
  const { entities } = collectionsOf(db);
  return {
    async readAll(visit, pauseShare) {
      await using session = db.client.startSession({ causalConsistency: true });
      // A majority read may lag behind the writes that changes are followed from. This command returns the time of the
      // newest write, and the session's reads wait until the majority has it.
      const { operationTime } = await db.command({ ping: 1 }, { session });
      const options = { projection: FIELDS, batchSize: BATCH, session };
      const registry = entities.find({ organization_id: null }, options);
      const owned = entities.find(
        { organization_id: { $gt: "" } },
        { ...options, sort: { organization_id: 1, created_at: -1, _id: -1 } },
      );
      for (const documents of [registry, owned]) {
        let [count, startedAt] = [0, performance.now()];
        for await (const document of documents) {
          visit(indexed(document));
          if (++count % BATCH > 0) continue;
          await wait((performance.now() - startedAt) * pauseShare);
          startedAt = performance.now();
        }
      }
      return operationTime as Timestamp;
    },
    async *follow(from) {
      const start = "since" in from ? { startAtOperationTime: from.since } : from;
      await using stream = entities.watch<EntityDocument>(pipeline, {
        ...start,
        fullDocument: "updateLookup",
        maxAwaitTimeMS: 1,
      });
      for (;;) {
        const askedAt = now().getTime();
        const event = await stream.tryNext();
        const completeUntil = event ? event.clusterTime!.getHighBits() * 1_000 : askedAt;
        yield { change: event ? changeOf(event) : undefined, completeUntil, resumeAfter: stream.resumeToken };
        if (!event) await wait(PAUSE_MS);
      }
    },
  };
}

/** True where MongoDB no longer has the changes since a position: everything must be read again. */
export function isHistoryLost(error: unknown): boolean {
  return error instanceof MongoServerError && LOST.includes(Number(error.code));
}

function changeOf(event: ChangeStreamDocument<EntityDocument>): Change {
  switch (event.operationType) {
    case "insert":
    case "replace":
    case "update":
      return event.fullDocument ? { entity: indexed(event.fullDocument) } : { removedId: event.documentKey._id };
    case "delete":
      return { removedId: event.documentKey._id };
    default:
      throw new Error(`the collection of entities had a change of kind ${event.operationType}`);
  }
}

/** Only inserts, removals and updates of the names. */
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

type NamesOfEntity = Pick<EntityDocument, "_id" | "organization_id" | "legal_name" | "placeholder" | "other_names">;

function indexed({ _id, organization_id, legal_name, placeholder, other_names }: NamesOfEntity): IndexedEntity {
  const legalNames = placeholder ? [] : [legal_name];
  return { id: _id, owner: organization_id, names: [...legalNames, ...other_names.slice(0, MAX_OTHER_NAMES)] };
}
