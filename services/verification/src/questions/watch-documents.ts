import { createCollections } from "@vvs/mongo";
import type { Db } from "mongodb";
import type { QuestionKind } from "./question.ts";
import type { FreshPriority } from "./watch-frequency.ts";

/** A live monitor of sam_registration, and which vendor it watches. */
export interface WatchDocument {
  /** mon_… */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** Number of the monitor's state that this is; a lower one has no effect. */
  readonly state_seq: number;
  /** The key of the question about its vendor; absent where the vendor has neither UEI nor CAGE, and once it was canceled. */
  readonly question?: string;
  /** By its frequency; absent without a question. */
  readonly priority?: FreshPriority;
  /** A canceled monitor never becomes active again. */
  readonly canceled_at?: Date;
}

/** A vendor that active live monitors watch; it belongs to no tenant. */
export interface WatchedQuestion {
  /** The question's key. */
  readonly _id: string;
  readonly uei: string;
  readonly cage: string;
  readonly kind: QuestionKind;
  /** By the shortest frequency of its monitors. */
  readonly priority: FreshPriority;
  /** The date of the newest registration data that is known for all organizations; 1970 where none is. */
  readonly as_of: Date;
  /** The load of the registry file that has that date; absent where SAM.gov's API answered. */
  readonly load?: string;
  /** When it is due to be asked again. */
  readonly due_at: Date;
  /** Number of calls about this vendor only that failed since the last answer. */
  readonly failures: number;
  /** Number of changes. Each change of its monitors raises it, so that two at the same moment conflict. */
  readonly writes: number;
}

/** Watched vendors of one frequency, and how many of them have registration data of an age; each age includes the ones before. */
export interface WatchedCount {
  readonly priority: FreshPriority;
  readonly vendors: number;
  readonly hour_old: number;
  readonly day_old: number;
  readonly week_old: number;
  readonly month_old: number;
}

/** The date of data where none is known. */
export const UNKNOWN_DATE = new Date(0);

/** How long canceled monitors are remembered, in days: longer than the records of their creation can come again. */
const CANCELED_KEPT_DAYS = 40;

/** Returns the collections of watched vendors in the live database. */
export function watchCollections(db: Db) {
  return {
    watches: db.collection<WatchDocument>("sam_gov_watches"),
    watched: db.collection<WatchedQuestion>("sam_gov_watched"),
  };
}

export type WatchCollections = ReturnType<typeof watchCollections>;

/** Creates the collections and indexes of watched vendors. It may run repeatedly, and while services run. */
export async function migrateWatches(db: Db): Promise<void> {
  const { watches, watched } = watchCollections(db);
  await createCollections(db, [watches.collectionName, watched.collectionName]);
  await watches.createIndexes([
    { key: { question: 1, priority: 1 } },
    { key: { canceled_at: 1 }, expireAfterSeconds: CANCELED_KEPT_DAYS * 86_400 },
  ]);
  await watched.createIndexes([
    { key: { kind: 1, priority: 1, due_at: 1 } },
    { key: { priority: 1, as_of: 1 } },
    { key: { load: 1 }, sparse: true },
  ]);
}
