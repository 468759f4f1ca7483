import type { Check, CheckStatus } from "@vvs/checks";
import { type Decision, type RowOutcome, rowOutcomes } from "@vvs/jobs";
import { createCollections, dropIndex } from "@vvs/mongo";
import type { Binary, Db } from "mongodb";
import type { Mode } from "../documents.ts";
import { isOpen } from "../open-rows.ts";

/** Numbers of rows by outcome, and by decision where it is not `review`. */
export type JobCounts = Readonly<Record<RowOutcome | "pay" | "hold", number>>;

/** The monitor that each vendor of a job gets. */
export interface JobMonitor {
  readonly frequency: string;
  /** Empty: its events are not sent. */
  readonly webhook_url: string;
  readonly active_limit: number;
}

/** A job as stored. What its request said is absent until it is started. */
export interface JobDocument {
  /** job_… */
  readonly _id: string;
  readonly organization_id: string;
  /** `intake`: rows are being added, and nobody sees it yet. */
  readonly status: "intake" | "queued" | "running" | "completed" | "canceled";
  /** Who asked for it, for what it causes. */
  readonly actor: string;
  readonly request_id: string;
  readonly created_entities?: number;
  /** When it was started; in state `intake`, when its first rows came. */
  readonly created_at: Date;
  /** In state `intake`: number of rows that came. */
  readonly received?: number;
  readonly total?: number;
  /** Number of rows that could not be read, as the answer to its start said. */
  readonly unread?: number;
  readonly checks?: readonly Check[];
  readonly mode?: Mode;
  readonly max_age_seconds?: number;
  readonly monitor?: JobMonitor;
  /** Names of the columns of the rows' cells; absent where they have none. */
  readonly columns?: readonly string[];
  /** When a row is to be verified next; absent before the start and after the end. */
  readonly next_at?: Date;
  /** The replica that works on it, and until when no other may. */
  readonly lease?: { readonly owner: string; readonly until: Date };
  readonly results_updated_at?: Date;
  readonly completed_at?: Date;
  /** As of the last count of the rows; while they are worked on, that was a few seconds ago at most. */
  readonly counts?: JobCounts;
  /** When the job and its rows are removed. */
  readonly expires_at: Date;
}

/** A vendor as the organization gave it. */
export interface RowInput {
  readonly external_id?: string;
  readonly entity_id?: string;
  readonly identifiers?: { readonly uei?: string; readonly cage?: string; readonly duns?: string };
  /** Sealed by entity for this job; removed once the row has its last answer. */
  readonly tin?: { readonly key_id: string; readonly box: Binary };
  readonly legal_name?: string;
  readonly address?: string;
}

/** What became of a row. */
export interface RowResult {
  readonly outcome: RowOutcome;
  readonly decision: Decision;
  readonly entity_id?: string;
  readonly legal_name?: string;
  readonly name_agrees?: boolean;
  readonly verification_id?: string;
  readonly overall_result?: CheckStatus;
  readonly candidates?: readonly { readonly id: string; readonly legal_name: string; readonly confidence: number }[];
  readonly monitor_id?: string;
  readonly problems?: readonly { readonly path: string; readonly message: string }[];
}

/** A row of a job as stored. It is open while it has `due_at`. */
export interface RowDocument {
  /** `<job id>:<row>`, see `rowId`. */
  readonly _id: string;
  readonly organization_id: string;
  readonly job_id: string;
  /** 1 for the first row. */
  readonly row: number;
  readonly input: RowInput;
  /** All cells of the row in the organization's file, with TINs masked. Read only for its download. */
  readonly cells?: readonly string[];
  /** The earlier row whose result it gets. */
  readonly same_as?: number;
  /** When it is to be verified next. */
  readonly due_at?: Date;
  /** Since when it has waited for its next try, and how long it waited between earlier ones, in milliseconds. */
  readonly waits?: { readonly since: Date; readonly before_ms: number };
  /** It has waited for SAM.gov's API, which has answered. */
  readonly was_parked?: true;
  /** Absent until the row has an outcome. */
  readonly result?: RowResult;
}

/** Width of a row's number in ids, so that they sort by it. */
const ROW_DIGITS = 6;

/** Returns the id of a row: ids of a job sort by row. */
export function rowId(jobId: string, row: number): string {
  return `${jobId}:${String(row).padStart(ROW_DIGITS, "0")}`;
}

/** Returns a filter of all rows of a job after one; of all where that is 0. */
export function rowsAfter({ organizationId }: { organizationId: string }, jobId: string, row = 0) {
  return { _id: { $gt: rowId(jobId, row), $lt: `${jobId};` }, organization_id: organizationId };
}

/** How long results are kept after a job's end, in milliseconds. */
export const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60_000;

/** Returns a filter that matches a row as long as it is open: of two writes that complete it, one has no effect. */
export function whileOpen({ _id, organization_id }: Pick<RowDocument, "_id" | "organization_id">) {
  return { _id, organization_id, ...isOpen };
}

/** Returns an environment's collections of jobs. */
export function jobCollections(db: Db) {
  return { jobs: db.collection<JobDocument>("jobs"), rows: db.collection<RowDocument>("job_rows") };
}

/** Returns counts of 0, but for those given. */
export function countsOf(counted: Partial<JobCounts>): JobCounts {
  const zeros = Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>;
  return { ...zeros, pay: 0, hold: 0, ...counted };
}

export type JobCollections = ReturnType<typeof jobCollections>;

/** Creates the collections and indexes. It may run repeatedly, and while services run. */
export async function migrateJobs(db: Db): Promise<void> {
  const { jobs, rows } = jobCollections(db);
  await createCollections(db, [jobs.collectionName, rows.collectionName, "job_starts"]);
  await jobs.createIndexes([
    { key: { organization_id: 1, created_at: -1, _id: -1 } },
    { key: { next_at: 1 }, partialFilterExpression: { next_at: { $exists: true } } },
    { key: { expires_at: 1 } },
    { key: { organization_id: 1 }, partialFilterExpression: { status: "intake" } },
  ]);
  // Its predecessor has these keys too, but held no row.
  await rows.createIndex({ job_id: 1, due_at: 1, _id: 1 }, { name: "open_rows", partialFilterExpression: isOpen });
  await dropIndex(rows, "job_id_1_due_at_1__id_1");
  await rows.createIndex({ job_id: 1, same_as: 1 }, { partialFilterExpression: { same_as: { $exists: true } } });
}
