import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { CheckType } from "@vvs/proto/common/v1/common";
import {
  AddJobRowsRequestSchema,
  CancelJobRequestSchema,
  Decision,
  type JobResultSchema,
  type JobSchema,
  JobService,
  JobStatus,
  ListJobResultsRequestSchema,
  RowOutcome,
  StartJobRequestSchema,
} from "@vvs/proto/verification/v1/jobs";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { ENTITY_ID } from "./fake-entity.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";
import { verificationOf } from "./fake-verification.ts";

export const JOB_ID = "job_01m7ygvppkenma4hm7yf5h5159";

type Job = Exclude<MessageInitShape<typeof JobSchema>, { $typeName: string }>;
type JobResult = Exclude<MessageInitShape<typeof JobResultSchema>, { $typeName: string }>;

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
export function jobPart(state: FakeState): ServicePart {
  const note = (method: string, json: string) => {
    failIfAsked(state, method);
    state.calls.push(`${method} ${json}`);
  };
  const find = (jobId: string) => {
    const job = state.jobs.find(({ id }) => id === jobId);
    if (!job) throw new ServiceError("job_not_found");
    return job;
  };
  return servicePart({
    service: JobService,
    callers: onlyFor(JobService, "dashboard"),
    handlers: {
      async addJobRows(request) {
        note("addJobRows", toJsonString(AddJobRowsRequestSchema, request));
        return { jobId: JOB_ID };
      },
      async startJob(request) {
        note("startJob", toJsonString(StartJobRequestSchema, request));
        return { job: jobOf({ status: JobStatus.QUEUED }) };
      },
      async getJob({ jobId }) {
        failIfAsked(state, "getJob");
        return { job: find(jobId) };
      },
      async listJobs({ page }) {
        failIfAsked(state, "listJobs");
        const { id: after } = page?.after ?? {};
        return { jobs: state.jobs.filter(({ id }) => after === undefined || id! < after) };
      },
      async listJobResults(request) {
        note("listJobResults", toJsonString(ListJobResultsRequestSchema, request));
        find(request.jobId);
        const all = state.resultsOf.get(request.jobId) ?? state.jobResults;
        const after = all.filter(({ row }) => row! > request.afterRow);
        const results = after.slice(0, request.limit);
        return { results, nextRow: after.length > results.length ? results.at(-1)!.row! : 0 };
      },
      async getJobReceipt() {
        throw new Error("not called by the dashboard");
      },
      async cancelJob(request) {
        note("cancelJob", toJsonString(CancelJobRequestSchema, request));
        return { job: { ...find(request.jobId), status: JobStatus.CANCELED } };
      },
    },
  });
}
