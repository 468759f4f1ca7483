import { create } from "@bufbuild/protobuf";
import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import { addJobRows, readJobResults, toProtoOutcome } from "@vvs/jobs";
import { PositionSchema } from "@vvs/proto/common/v1/common";
import { readJobBody } from "../http/body.ts";
import { isVendorTexts, MAX_VENDORS, type VendorTexts } from "../http/vendor-texts.ts";
import { checks } from "../input/fields.ts";
import { writeCursor } from "../input/page.ts";
import { renderJob, renderJobResult, rowOutcome } from "../render/job.ts";
import { frequencySchema } from "../render/monitor.ts";
import { jobVendor, readJobRows, refuseInvalidRows } from "./job-rows.ts";
import { csvLines, jsonLines } from "./job-texts.ts";
import * as docs from "./jobs-docs.ts";
import { webhookUrlSchema, webhookUrlViolations } from "./monitors.ts";
import { type Route, route } from "./route.ts";
import { maxAgeSeconds, mode } from "./verifications.ts";

const CSV = "text/csv";
/** Of 10,000 rows each has a verification and evidence to be read. */
const RECEIPT_TIMEOUT_MS = 20_000;

const jobId = { prefix: "job", missing: "job_not_found" } as const;

const envelope = {
  checks,
  mode,
  max_age_seconds: maxAgeSeconds,
  on_invalid: z.enum(["skip", "refuse"]).default("skip").meta(docs.onInvalid),
  monitor: z
    .strictObject({ frequency: frequencySchema.default("daily"), webhook_url: webhookUrlSchema.optional() })
    .optional()
    .meta(docs.monitor),
};

/** Maximum number of jobs that an organization starts at the same time: their bodies of up to 5 MB are in memory. */
const MAX_JOBS_AT_ONCE = 4;

const vendorTexts = z
  .custom<VendorTexts>(isVendorTexts, { error: ({ input }) => (input === undefined ? undefined : "must be an array") })
  .refine(({ count }) => count > 0, { error: "must contain at least one vendor", abort: true })
  .refine(({ count }) => count <= MAX_VENDORS, `must have at most ${MAX_VENDORS} entries`);

const created = z.strictObject({ ...envelope, vendors: vendorTexts });
type Created = z.output<typeof created>;

const documentedBody = z
  .strictObject({ ...envelope, vendors: z.array(jobVendor).min(1).max(MAX_VENDORS) })
  .meta({ id: "CreateJobRequest" });

export const jobRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/jobs",
    scope: "verifications:write",
    alsoNeeds: (body: Created) => (body.monitor ? ["monitors:write"] : []),
    maxBegun: MAX_JOBS_AT_ONCE,
    docs: { ...docs.create, body: documentedBody },
    idempotent: true,
    body: created,
    readBody: readJobBody,
    rules: ({ monitor }, context) =>
      typeof monitor === "object" && monitor !== null
        ? webhookUrlViolations(monitor as Readonly<Record<string, unknown>>, context).map(inMonitor)
        : [],
    async readRows({ body, isLive }) {
      const rows = await readJobRows(body.vendors, isLive);
      if (body.on_invalid === "refuse") refuseInvalidRows(rows);
      return rows;
    },
    async handle({ caller, body, rows, openJobRows, activeMonitors, idempotency }, { jobs }) {
      const { frequency = "", webhook_url: webhookUrl = "" } = body.monitor ?? {};
      const { job, replayed } = await jobs.startJob({
        caller,
        jobId: await addJobRows(jobs, { caller, rows }),
        total: rows.length,
        checks: body.checks,
        mode: body.mode,
        maxAgeSeconds: body.max_age_seconds,
        monitor: body.monitor && { frequency, webhookUrl, activeLimit: activeMonitors },
        openRows: openJobRows,
        idempotency,
      });
      return { status: 202, body: renderJob(job!), location: `/v1/jobs/${job!.id}`, replayed };
    },
  }),
  route({
    method: "GET",
    path: "/v1/jobs",
    scope: "verifications:read",
    docs: docs.list,
    list: true,
    async handle({ caller, page, list }, { jobs }) {
      const found = await jobs.listJobs({ caller, page });
      return { body: { jobs: found.jobs.map(renderJob), next_cursor: writeCursor(list, found.next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/jobs/:id",
    scope: "verifications:read",
    docs: docs.get,
    id: jobId,
    async handle({ caller, id }, { jobs }) {
      return { body: renderJob((await jobs.getJob({ caller, jobId: id })).job!) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/jobs/:id/results",
    scope: "verifications:read",
    docs: docs.results,
    id: jobId,
    list: true,
    query: z.strictObject({ outcome: rowOutcome.optional() }),
    textTypes: [CSV, "application/x-ndjson"],
    async readText({ caller, id, query }, { jobs, publicBaseUrl }, mediaType) {
      const outcome = query.outcome && toProtoOutcome(query.outcome);
      // Read before the results, so that a completed job has them all.
      const { status } = renderJob((await jobs.getJob({ caller, jobId: id })).job!);
      const results = await readJobResults(jobs, { caller, jobId: id, outcome });
      const parts = mediaType === CSV ? csvLines(results, publicBaseUrl) : jsonLines(results, publicBaseUrl);
      return { parts, headers: { "X-Job-Status": status } };
    },
    async handle({ caller, id, query, page, list }, { jobs, publicBaseUrl }) {
      const afterRow = Number(page.after?.id?.split(":")[1] ?? 0);
      const outcome = query.outcome && toProtoOutcome(query.outcome);
      const found = await jobs.listJobResults({ caller, jobId: id, outcome, afterRow, limit: page.limit });
      const results = found.results.map((one) => renderJobResult(one, publicBaseUrl));
      return { body: { results, next_cursor: writeCursor(list, positionOf(id, found.nextRow)) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/jobs/:id/receipt",
    scope: "verifications:read",
    docs: docs.receipt,
    id: jobId,
    async handle({ caller, id }, { jobs, publicBaseUrl }) {
      const asked = { caller, jobId: id, issuer: publicBaseUrl };
      return { body: (await jobs.getJobReceipt(asked, { timeoutMs: RECEIPT_TIMEOUT_MS })).receipt };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/jobs/:id",
    scope: "verifications:write",
    docs: docs.cancel,
    id: jobId,
    async handle({ caller, id }, { jobs }) {
      return { body: renderJob((await jobs.cancelJob({ caller, jobId: id })).job!) };
    },
  }),
];

function inMonitor({ path, message }: Violation): Violation {
  return { path: `monitor.${path}`, message };
}

/** Returns the position after a row, for a cursor; undefined on the last page. */
function positionOf(id: string, row: number) {
  return row === 0 ? undefined : create(PositionSchema, { createdAt: { seconds: 0n }, id: `${id}:${row}` });
}
