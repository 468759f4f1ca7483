import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CheckType } from "@vvs/proto/common/v1/common";
import {
  Decision,
  type JobResultSchema,
  type JobSchema,
  JobService,
  JobStatus,
  RowOutcome,
} from "@vvs/proto/verification/v1/jobs";
import { ENTITY_ID } from "./fake-entity.ts";
import { fakePart, findIn } from "./fake-part.ts";
import type { FakeState, Fields } from "./fake-state.ts";
import { verificationOf } from "./fake-verification.ts";

export const JOB_ID = "job_01m7ygvppkenma4hm7yf5h5159";

type Job = Fields<typeof JobSchema>;
type JobResult = Fields<typeof JobResultSchema>;

const at = timestampFromDate(new Date("2026-11-21T07:41:46.067Z"));

/** A completed job of three rows as the service sends it. */
export function jobOf(changes: Job = {}): Job {
  return {
    id: JOB_ID,
    status: JobStatus.COMPLETED,
    total: 3,
    done: 3,
    counts: { pass: 1, fail: 1, ambiguous: 1 },
    pay: 1,
    hold: 1,
    createdAt: at,
    completedAt: at,
    checks: [CheckType.SAM_REGISTRATION],
    ...changes,
  };
}

/** The result of a row that passed, as the service sends it. */
export function jobResultOf(changes: JobResult = {}): JobResult {
  return {
    row: 2,
    externalId: "V-1",
    outcome: RowOutcome.PASS,
    decision: Decision.PAY,
    entityId: ENTITY_ID,
    legalName: "Acme & Co",
    nameAgrees: true,
    verification: verificationOf(),
    ...changes,
  };
}

/** Simulates jobs: those of `state.jobs`, each with its results in `state.resultsOf`, or `state.jobResults`, of which it returns those after a row. */
export function jobPart(state: FakeState) {
  const find = (jobId: string) => findIn(state.jobs, jobId, "job_not_found");
  return fakePart(JobService, state, {
    recorded: {
      addJobRows: async () => ({ jobId: JOB_ID }),
      startJob: async () => ({ job: jobOf({ status: JobStatus.QUEUED }) }),
      async listJobResults({ jobId, afterRow, limit }) {
        find(jobId);
        const all = state.resultsOf.get(jobId) ?? state.jobResults;
        const after = all.filter(({ row }) => row! > afterRow);
        const results = after.slice(0, limit);
        return { results, nextRow: after.length > results.length ? results.at(-1)!.row! : 0 };
      },
      cancelJob: async ({ jobId }) => ({ job: { ...find(jobId), status: JobStatus.CANCELED } }),
    },
    quiet: {
      getJob: async ({ jobId }) => ({ job: find(jobId) }),
      async listJobs({ page }) {
        const { id: after } = page?.after ?? {};
        return { jobs: state.jobs.filter(({ id }) => after === undefined || id! < after) };
      },
    },
  });
}
