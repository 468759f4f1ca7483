import { doubtText } from "@vvs/checks/decision";
import {
  apiResultColumns,
  type Decision,
  outcomeOf,
  type RowOutcome,
  toProtoDecision,
  toProtoOutcome,
} from "@vvs/jobs";
import { type Job, type JobResult, JobStatus } from "@vvs/proto/verification/v1/jobs";
import type { Request } from "express";
import { pathId, pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { frequencyOptions } from "../monitors/monitor-form.ts";
import { listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { selectField } from "../ui/fields.ts";
import { choiceField } from "../ui/filter.ts";
import { card, checkTitle, facts, noticeOf, problemNotice, state, time } from "../ui/parts.ts";
import { aside } from "../ui/table.ts";
import { counted, numberText } from "../ui/vocabulary.ts";
import { decisionLabels } from "../verdicts/certified-decision.ts";
import { answersOf } from "../verifications/verification-list.ts";
import { ownColumns } from "./own-columns.ts";
import { decisionCounts, decisionState, isGoingOn, isWorking, outcomeCounts, outcomeTexts, progress } from "./words.ts";

export const notices = {
  canceled: "The list was canceled. Rows that have an answer keep it.",
  monitored: "All vendors that passed have a monitor.",
  limit: problemNotice(
    "Some vendors that passed have no monitor, because the limit of your plan is reached. Cancel monitors that you no longer need, and try again.",
  ),
};

export function createListHandlers(context: PageContext) {
  const { jobs } = context;

  async function pageOf(request: Request, visit: Visit) {
    const { job } = await jobs.getJob({ caller: visit.caller, jobId: pathId(request, "job_id", "job") });
    return resultsPage(context, job!, visit.view.path);
  }

  return {
    view: async (request, response, visit) => (await pageOf(request, visit)).list(request, response, visit),
    download: async (request, response, visit) => (await pageOf(request, visit)).download(request, response, visit),

    // Repeating the form changes nothing, so it needs no token.
    async cancel(request, response, visit) {
      const jobId = pathId(request, "job_id", "job");
      await jobs.cancelJob({ caller: visit.caller, jobId });
      response.redirect(303, `${visit.view.path}/lists/${jobId}?done=canceled`);
    },
  } satisfies PageHandlers;
}

interface Results {
  readonly rows: readonly JobResult[];
  readonly next: number | undefined;
}

/** Creates the page of one list with its results. */
const resultsPage = (context: PageContext, job: Job, viewPath: string) =>
  listPage<"decision" | "outcome", number, Results>(context, {
    path: `/lists/${job.id}`,
    noun: "results",
    title: `List of ${counted(job.total, "row")}`,
    fields: {
      decision: choiceField("Decision", { "": "any", ...decisionLabels }),
      outcome: choiceField("Outcome", { "": "any", ...outcomeTexts }),
    },
    positions: byRow,
    limit: 50,
    async read({ caller }, { decision, outcome }, page) {
      const { results, nextRow } = await context.jobs.listJobResults({
        ...{ caller, jobId: job.id, limit: page.limit, afterRow: page.after ?? 0 },
        decision: decision ? toProtoDecision(decision as Decision) : undefined,
        outcome: outcome ? toProtoOutcome(outcome as RowOutcome) : undefined,
        wholeRows: page.isForFile && job.columns.length > 0,
      });
      return { rows: results, next: nextRow === 0 ? undefined : nextRow };
    },
    columns: ({ visit: { view } }) => [
      [
        "Vendor",
        (result) => html`${vendorOf(result, view.path)}${aside(result.externalId, `row ${result.row}`)}`,
        "long",
      ],
      ["Decision", decisionState],
      ["Why", (result) => whyOf(result, view.path), "long"],
      ["Evidence", (result) => evidenceOf(result, view.path)],
      job.monitors && [
        "Monitor",
        ({ monitorId }) =>
          monitorId && html`<a href="${view.path}/monitors/${monitorId}">View<span class="unseen"> monitor</span></a>`,
      ],
    ],
    parents: [["/lists", "Lists"]],
    intro: (visit) => progressSection(visit, job),
    notice: (request) => noticeOf(request, notices),
    heading: (_visit, { isNarrowed }) => (isNarrowed ? "Matching results" : "Results"),
    refreshes: isWorking(job),
    meanwhile: "None are lost.",
    empty: () => (isGoingOn(job) ? "No row has an answer yet." : "No row has an answer."),
    csv:
      job.columns.length > 0
        ? ownColumns(job, new URL(`${viewPath}/verifications/`, context.url).href)
        : apiResultColumns(context.apiBaseUrl.origin),
    curl: (filter) => [
      "listJobResults",
      "List these results",
      { path: pathWithQuery(`/v1/jobs/${job.id}/results`, { outcome: filter.outcome }) },
    ],
  });

function progressSection(visit: Visit, job: Job): Html {
  const { view, may } = visit;
  const path = `${view.path}/lists/${job.id}`;
  const byOutcome = Object.entries(outcomeCounts(job.counts)).filter(([, count]) => count > 0);
  const link = (filter: Record<string, string>, count: number) =>
    html`<a href="${pathWithQuery(path, filter)}">${numberText(count)}</a>`;
  return card("progress", "Progress", "unseen")`${facts([
    ["State", progress(job)],
    ...Object.entries(decisionCounts(job)).map(
      ([decision, count]) => [decisionLabels[decision as Decision], link({ decision }, count)] as const,
    ),
    [
      "Outcomes",
      byOutcome.length > 0 &&
        html`${byOutcome.map(([outcome, count], place) => html`${place > 0 && ", "}${outcomeTexts[outcome as RowOutcome]} ${link({ outcome }, count)}`)}`,
    ],
    ["Checks", job.checks.map(checkTitle).join(", ")],
    ["Started", time(job.createdAt)],
    ["Ended", time(job.completedAt)],
  ])}
${may("verify") && isGoingOn(job) && html`<form method="post" action="${path}/cancel"><p class="hint">Canceling keeps the answers that are there, and leaves out the other rows.</p><button class="quiet">Cancel this list</button></form>`}
${job.status === JobStatus.COMPLETED && html`<p><a href="${path}/changes">What changed since an earlier list</a></p>`}
${may("manage_monitors") && job.status === JobStatus.COMPLETED && (job.counts?.pass ?? 0) > 0 && monitorForm(path)}`;
}

/** Renders the form that gives a monitor to each vendor that passed. */
function monitorForm(path: string): Html {
  const options = frequencyOptions("daily");
  return html`<form method="post" action="${path}/monitors" data-busy="Creating monitors …">
${selectField({ name: "frequency", label: "How often", options, hint: "Vendors that are already monitored keep their monitor." })}
<button class="quiet">Monitor all that passed</button>
</form>`;
}

export function evidenceOf({ verification }: JobResult, path: string): Html | undefined {
  return (
    verification &&
    html`<a href="${path}/verifications/${verification.id}">View<span class="unseen"> verification</span></a>`
  );
}

/** Renders the vendor of a row, as a link where it is known. */
export function vendorOf({ entityId, legalName, row }: JobResult, path: string): Html | string {
  const name = legalName || entityId || `Row ${row}`;
  return entityId ? html`<a href="${path}/vendors/${entityId}">${name}</a>` : name;
}

/** Renders why a row has its decision: what the checks say, or what stood in their way. */
export function whyOf(result: JobResult, path: string): Html {
  const { verification, candidates, problems, doubts } = result;
  const outcome = outcomeOf(result.outcome);
  const texts = [
    doubts.length > 0 && `To check: ${doubts.map(doubtText).join(", and ")}.`,
    ...(verification ? answersOf(verification) : []),
    ...problems.map(({ path: at, message }) => `${at}: ${message}`),
  ];
  const links = candidates
    .slice(0, 3)
    .map(({ id, legalName }) => html` <a href="${path}/vendors/${id}">${legalName}</a>`);
  const search = outcome === "ambiguous" || outcome === "not_found";
  return html`${state(outcome ?? "", outcome && outcomeTexts[outcome])}${links}${search && html` <a href="${path}/vendors/search">Search</a>`}${aside(...texts)}`;
}

/** Positions of pages: the row before. */
const byRow = {
  read: (text: unknown) => (typeof text === "string" && /^\d{1,7}$/.test(text) ? Number(text) : undefined),
  write: (row: number) => String(row),
  links: ["First rows", "Next rows"] as const,
};
