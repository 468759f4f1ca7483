import { type Job, type JobResult, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { field, pathId } from "../http/form.ts";
import { html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import { frequencies } from "../monitors/monitor-form.ts";
import type { PageContext } from "../page/page-context.ts";
import { numberText } from "../ui/vocabulary.ts";

/** Rows that one form works on: they take a few seconds. */
const ROWS_OF_FORM = 500;
/** Monitors that are created at the same time. */
const TOGETHER = 10;

/** Creates the handler that creates a monitor for each vendor of a list that passed, up to 500 rows per form. */
export function createMonitorPassedHandler({ jobs, monitors, organization, layout }: PageContext): PageHandler {
  /** Creates the monitors of some rows. Returns false where no further one is allowed. */
  async function monitor(
    { caller }: Visit,
    { checks }: Job,
    rows: readonly JobResult[],
    frequency: (typeof frequencies)[keyof typeof frequencies],
  ): Promise<boolean> {
    const { activeMonitors: activeLimit } = await organization.getOrganization({ caller });
    for (let at = 0; at < rows.length; at += TOGETHER) {
      try {
        await Promise.all(
          rows.slice(at, at + TOGETHER).map(({ entityId, externalId }) =>
            monitors.createMonitor({
              caller,
              entityId,
              checks,
              frequency,
              externalId,
              activeLimit,
              unlessExists: true,
            }),
          ),
        );
      } catch (error) {
        if (isRefusal(error, "limit_exceeded")) return false;
        throw error;
      }
    }
    return true;
  }

  // Repeating the form creates nothing twice, so it needs no token.
  return async (request, response, visit) => {
    const { caller, view } = visit;
    const jobId = pathId(request, "job_id", "job");
    const name = field(request, "frequency");
    if (!Object.hasOwn(frequencies, name)) throw new ProblemError("malformed");
    const frequency = frequencies[name as keyof typeof frequencies];
    const afterRow = Number(/^\d{1,7}$/.exec(field(request, "after"))?.[0] ?? 0);
    const { job } = await jobs.getJob({ caller, jobId });
    const { results, nextRow } = await jobs.listJobResults({
      ...{ caller, jobId, afterRow, limit: ROWS_OF_FORM, outcome: RowOutcome.PASS },
    });
    const path = `${view.path}/lists/${jobId}`;
    if (!(await monitor(visit, job!, results, frequency))) return response.redirect(303, `${path}?done=limit`);
    if (nextRow === 0) return response.redirect(303, `${path}?done=monitored`);
    const content = html`<div class="card narrow"><h1>Monitor all that passed</h1>
<p>The vendors that passed up to row ${numberText(nextRow)} have a monitor. Continue with the others.</p>
<form method="post" action="${path}/monitors" data-busy="Creating monitors …">
  <input type="hidden" name="after" value="${String(nextRow)}"><input type="hidden" name="frequency" value="${name}">
  <p class="choices"><button>Continue</button> <a class="button quiet" href="${path}">Go back</a></p>
</form></div>`;
    layout.sendPage(response, { visit, section: "lists", title: "Monitor all that passed", content });
  };
}
