import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import type { IdempotencyStore } from "@vvs/idempotency";
import { decisionOf, fittingRows, outcomeOf, toProtoDecision, toProtoOutcome } from "@vvs/jobs";
import { type JobResultSchema, type JobSchema, JobService, JobStatus } from "@vvs/proto/verification/v1/jobs";
import { type Callers, type Handlers, servicePart } from "@vvs/rpc";
import { callerOf, type Environment, type Tenant } from "@vvs/tenant";
import type { VerificationDocument } from "../documents.ts";
import { checksOf, modeOf, toVerification } from "../messages.ts";
import type { ReceiptSigner } from "../receipts/signer.ts";
import type { RowDocument } from "./documents.ts";
import { jobClaims, type NamedEvidence } from "./job-claims.ts";
import type { CountedJob } from "./job-store.ts";
import type { Jobs } from "./jobs.ts";
import { doneOf } from "./row-counts.ts";

/** Maximum number of results in a call. */
const MAX_RESULTS = 1_000;

const gatewayAndDashboard = ["gateway", "dashboard"] as const;

/** The services that may call each RPC. */
const callers: Callers<typeof JobService> = {
  addJobRows: gatewayAndDashboard,
  startJob: gatewayAndDashboard,
  getJob: gatewayAndDashboard,
  listJobs: gatewayAndDashboard,
  listJobResults: gatewayAndDashboard,
  getJobReceipt: gatewayAndDashboard,
  cancelJob: gatewayAndDashboard,
};

/** Creates the service's part that takes jobs. */
export function createJobService(options: {
  jobs: Readonly<Record<Environment, Jobs>>;
  idempotency: Readonly<Record<Environment, IdempotencyStore>>;
  /** Returns verifications by their ids. */
  verifications: (tenant: Tenant, ids: readonly string[]) => Promise<readonly VerificationDocument[]>;
  /** Returns evidence by its ids, without content. */
  evidence: (tenant: Tenant, ids: readonly string[]) => Promise<readonly NamedEvidence[]>;
  signer: Pick<ReceiptSigner, "sign">;
}) {
  const { jobs, idempotency, verifications } = options;
  const handlers: Handlers<typeof JobService> = {
    async addJobRows(request) {
      const caller = callerOf(request.caller);
      return { jobId: await jobs[caller.tenant.environment].intake.add(caller, request) };
    },
    async startJob(request) {
      const { tenant } = callerOf(request.caller);
      const ours = jobs[tenant.environment];
      const { jobId, total, maxAgeSeconds, monitor, openRows, columns } = request;
      const terms = {
        total,
        checks: checksOf(request.checks),
        mode: modeOf(request.mode),
        ...(maxAgeSeconds !== undefined && { max_age_seconds: maxAgeSeconds }),
        ...(columns.length > 0 && { columns }),
        ...(monitor && {
          monitor: {
            frequency: monitor.frequency,
            webhook_url: monitor.webhookUrl,
            active_limit: monitor.activeLimit,
          },
        }),
      };
      // What can't be removed now is removed after an hour.
      const discard = () => ours.intake.discard(tenant, jobId).catch(() => undefined);
      const starting = idempotency[tenant.environment].once({
        tenant,
        idempotency: request.idempotency,
        run: async (key) => ours.counted(await ours.intake.start(tenant, jobId, { terms, openRows, key })),
        replay: (id) => ours.asStarted(tenant, id),
      });
      const { value, replayed } = await starting.catch(async (error: unknown) => {
        if (!isOutcomeUnknown(error)) await discard();
        throw error;
      });
      if (replayed) await discard();
      ours.nudge();
      return { job: toJob(value), replayed };
    },
    async getJob(request) {
      const { tenant } = callerOf(request.caller);
      const found = await jobs[tenant.environment].get(tenant, request.jobId);
      return { job: { ...toJob(found), columns: [...(found.job.columns ?? [])] } };
    },
    async listJobs(request) {
      const { tenant } = callerOf(request.caller);
      const { jobs: found, next } = await jobs[tenant.environment].list(tenant, request.page);
      return { jobs: found.map(toJob), next };
    },
    async listJobResults(request) {
      const { tenant } = callerOf(request.caller);
      const { jobId, afterRow, limit, wholeRows } = request;
      if (limit < 1 || limit > MAX_RESULTS) {
        throw new ServiceError("invalid_request", { message: `limit: must be 1–${MAX_RESULTS}` });
      }
      const outcome = outcomeOf(request.outcome);
      const decision = decisionOf(request.decision);
      const query = { outcome, decision, afterRow, limit, wholeRows };
      const { found: rows, isLast } = await jobs[tenant.environment].results(tenant, jobId, query);
      const found = fittingRows(rows);
      const ids = new Set(found.flatMap(({ result }) => result?.verification_id ?? []));
      const read = ids.size > 0 ? await verifications(tenant, [...ids]) : [];
      const byId = new Map(read.map((one) => [one._id, one]));
      return {
        results: found.map((row) => toResult(row, byId.get(row.result?.verification_id ?? ""))),
        nextRow: isLast && found.length === rows.length ? 0 : found.at(-1)!.row,
      };
    },
    async getJobReceipt({ caller, jobId, issuer }) {
      const { tenant } = callerOf(caller);
      const counted = await jobs[tenant.environment].get(tenant, jobId);
      const all = { outcome: undefined, afterRow: 0, limit: counted.job.total! };
      const { found: rows } = await jobs[tenant.environment].results(tenant, jobId, all);
      const ids = rows.flatMap(({ result }) => result!.verification_id ?? []);
      const read = await verifications(tenant, ids);
      const evidenceIds = read.flatMap(({ results }) => results.map(({ evidence_id }) => evidence_id));
      const evidence = await options.evidence(tenant, evidenceIds);
      const { environment } = tenant;
      const claims = jobClaims({ issuer, environment, counted, rows, verifications: read, evidence });
      return { receipt: await options.signer.sign(claims) };
    },
    async cancelJob(request) {
      const { tenant } = callerOf(request.caller);
      return { job: toJob(await jobs[tenant.environment].cancel(tenant, request.jobId)) };
    },
  };
  return servicePart({ service: JobService, handlers, callers });
}

function toJob({ job, counts }: CountedJob): MessageInitShape<typeof JobSchema> {
  return {
    id: job._id,
    status: JobStatus[job.status.toUpperCase() as keyof typeof JobStatus],
    total: job.total ?? 0,
    done: doneOf(counts),
    counts: { ...counts, notFound: counts.not_found, limitExceeded: counts.limit_exceeded },
    createdAt: timestampFromDate(job.created_at),
    completedAt: job.completed_at && timestampFromDate(job.completed_at),
    resultsUpdatedAt: job.results_updated_at && timestampFromDate(job.results_updated_at),
    checks: job.checks?.map(toCheckType) ?? [],
    monitors: job.monitor !== undefined,
    pay: counts.pay,
    hold: counts.hold,
    fileRows: job.columns !== undefined,
  };
}

function toResult(
  { row, input, result, cells = [] }: RowDocument,
  verification: VerificationDocument | undefined,
): MessageInitShape<typeof JobResultSchema> {
  const { outcome, decision, candidates = [], problems = [] } = result ?? {};
  return {
    row,
    // A number that was refused may be the vendor's TIN.
    externalId: problems.some(({ path }) => path === "external_id") ? "" : input.external_id,
    outcome: outcome && toProtoOutcome(outcome),
    decision: decision && toProtoDecision(decision),
    entityId: result?.entity_id,
    legalName: result?.legal_name,
    nameAgrees: result?.name_agrees,
    verification: verification && toVerification(verification),
    candidates: candidates.map(({ id, legal_name: legalName, confidence }) => ({ id, legalName, confidence })),
    monitorId: result?.monitor_id,
    problems: [...problems],
    cells: [...cells],
    doubts: [...(verification?.payment?.doubts ?? [])],
  };
}
