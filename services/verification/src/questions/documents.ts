import type { Check } from "@vvs/checks";
import { createCollections } from "@vvs/mongo";
import type { Collection, Db } from "mongodb";
import type { KeptAnswer, QuestionKind } from "./question.ts";
import type { WatchedCount } from "./watch-documents.ts";

/** A monitor's run that waits for SAM.gov's API. */
export interface ParkedRun {
  /** The id of the record that requested it. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly entity_id: string;
  readonly checks: readonly Check[];
  /** It stands for a job's row, whose id is also the monitor's: the row is woken instead of being verified here. */
  readonly is_row?: true;
  /** When the run was claimed. */
  readonly requested_at?: Date;
  readonly parked_at: Date;
  /** The key of the question that it waits for. */
  readonly question: string;
  /**
   * `ready`: its question was answered, or can't be; it can be verified with what is known. `superseded`: a newer run of the
   * monitor is being verified, and removes it.
   */
  readonly state: "waiting" | "ready" | "superseded";
  /** Set while a replica verifies it. */
  readonly lease?: { readonly owner: string; readonly until: Date };
  /** The trace of the run, in W3C format. */
  readonly traceparent?: string;
}

/** A question about one vendor; it belongs to no tenant. */
export interface QuestionDocument {
  /** `uei:…` or `cage:…`. */
  readonly _id: string;
  readonly uei: string;
  readonly cage: string;
  readonly kind: QuestionKind;
  /** The Exclusions API is asked too. */
  readonly asks_exclusions: boolean;
  /** The exclusions that a flag of the registration would stand for are known. Absent where none asks them. */
  readonly knows_exclusions?: boolean;
  /** 1 and 2: see `Asking`. Higher ones are never stored: they are asked only to keep data fresh. */
  readonly priority: number;
  /** When the first run asked it. */
  readonly wanted_at: Date;
  /**
   * Its place among those of its priority: the time at which a run asked it; for a job's row later by the turns of the rows of its
   * organization that wait before it.
   */
  readonly turn: Date;
  /** Not asked before this time. */
  readonly not_before: Date;
  /** Number of calls about this question only that failed. */
  readonly failures: number;
  /** Number of runs that asked it, without those of canceled monitors. Each of them writes it, so that no answer can be stored beside their transaction. */
  readonly runs: number;
}

/** SAM.gov's newest answer to a question; it belongs to no tenant. */
export interface PublicAnswer extends KeptAnswer {
  /** The question's key. */
  readonly _id: string;
}

/** Numbers of one UTC day, for plans and the dashboard. */
export interface QueueDay {
  /** YYYY-MM-DD. */
  readonly _id: string;
  /** Its start. */
  readonly day: Date;
  /** Vendors that SAM.gov's API answered on this day. */
  readonly vendors_asked?: number;
  /** Questions of priority 1 of this day that have been answered since. */
  readonly new_questions?: number;
  /** Calls that were planned for this day on the day before. */
  readonly planned_calls?: number;
  /** The vendors that monitors watch, as counted last on this day. */
  readonly watched?: { readonly counted_at: Date; readonly by_frequency: readonly WatchedCount[] };
}

/** Who asks SAM.gov's API: one replica at a time. */
export interface AskerDocument {
  readonly _id: "asker";
  readonly owner: string | null;
  readonly until: Date;
  /** Number of the holder's term: each take-over begins a new one. */
  readonly term?: number;
  /** Number of transactions that touched it. */
  readonly writes: number;
}

const DAY_SECONDS = 86_400;
/** How long public answers are kept, in days: answers other than active are asked again at least every 7 days. */
const ANSWERS_KEPT_DAYS = 40;
/** How long the numbers of a day are kept, in days. */
const DAYS_KEPT_DAYS = 90;

/** Returns the queue's collections in the live database. */
export function queueCollections(db: Db) {
  return {
    parkedRuns: db.collection<ParkedRun>("parked_runs"),
    questions: db.collection<QuestionDocument>("sam_gov_questions"),
    publicAnswers: db.collection<PublicAnswer>("public_answers"),
    days: db.collection<QueueDay>("sam_gov_days"),
    asker: db.collection<AskerDocument>("sam_gov_asker"),
  };
}

export type QueueCollections = ReturnType<typeof queueCollections>;

/** Creates the collections and indexes of the queue. It may run repeatedly, and while services run. */
export async function migrateQueue(db: Db): Promise<void> {
  const { parkedRuns, questions, publicAnswers, days, asker } = queueCollections(db);
  const all: readonly Pick<Collection, "collectionName">[] = [parkedRuns, questions, publicAnswers, days, asker];
  await createCollections(
    db,
    all.map(({ collectionName }) => collectionName),
  );
  await parkedRuns.createIndexes([
    // A monitor has at most one parked run.
    { key: { organization_id: 1, monitor_id: 1 }, unique: true },
    { key: { question: 1, state: 1 } },
    { key: { state: 1, parked_at: 1 } },
    { key: { parked_at: 1 } },
  ]);
  await questions.createIndexes([
    { key: { kind: 1, priority: 1, turn: 1, not_before: 1 } },
    { key: { priority: 1, wanted_at: 1 } },
  ]);
  await publicAnswers.createIndexes([
    { key: { asked_at: 1 }, expireAfterSeconds: ANSWERS_KEPT_DAYS * DAY_SECONDS },
    { key: { ask_again_at: 1, "parts.registration.listed_as": 1, "parts.registration.id_only": 1 } },
    { key: { ask_again_at: 1, "parts.registration.id_only": 1 } },
  ]);
  await days.createIndex({ day: 1 }, { expireAfterSeconds: DAYS_KEPT_DAYS * DAY_SECONDS });
  await asker.updateOne(
    { _id: "asker" },
    { $setOnInsert: { owner: null, until: new Date(0), writes: 0 } },
    { upsert: true },
  );
}
