import type { ServiceError } from "@vvs/errors";
import { type Job, type JobResult, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { field, pathId } from "../http/form.ts";
import { html } from "../http/html.ts";
import { messageText, ProblemError } from "../http/problem.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import { frequencies } from "../monitors/monitor-form.ts";
import type { PageContext } from "../page/page-context.ts";
import { section } from "../ui/parts.ts";
import { aside, table } from "../ui/table.ts";
import { counted, numberText } from "../ui/vocabulary.ts";
import { notices, vendorOf } from "./list.ts";

/** Rows that one form works on: they take a few seconds. */
const ROWS_OF_FORM = 500;
/** Monitors that are created at the same time. */
const TOGETHER = 10;

/** A row whose vendor got no monitor, with the refusal. */
interface Refused {
  readonly result: JobResult;
  readonly error: ServiceError;
}

/** Creates the handler that creates a monitor for each vendor of a list that passed, up to 500 rows per form. */
export function createMonitorPassedHandler({ jobs, monitors, organization, layout }: PageContext): PageHandler {
  /** Creates the monitors of some rows, until the limit of the plan is reached. Returns the rows that got none. */
  async function monitor(
    { caller }: Visit,
    { checks }: Job,
    rows: readonly JobResult[],
    frequency: (typeof frequencies)[keyof typeof frequencies],
  ): Promise<Refused[]> {
    const { activeMonitors: activeLimit } = await organization.getOrganization({ caller });
    async function monitorRow(result: JobResult): Promise<Refused | undefined> {
      const { entityId, externalId } = result;
      const asked = { caller, entityId, checks, frequency, externalId, activeLimit, unlessExists: true };
      try {
        await monitors.createMonitor(asked);
        return undefined;
      } catch (error) {
        if (isRefusal(error, "limit_exceeded", "invalid_request", "entity_not_found")) return { result, error };
        throw error;
      }
    }
    const refused: Refused[] = [];
    for (let at = 0; at < rows.length && !isLimitReached(refused); at += TOGETHER) {
      const tried = await Promise.all(rows.slice(at, at + TOGETHER).map(monitorRow));
      refused.push(...tried.filter((each) => each !== undefined));
    }
    return refused;
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
    const refused = await monitor(visit, job!, results, frequency);
    const others = refused.filter(({ error }) => error.code !== "limit_exceeded");
    const isFull = isLimitReached(refused);
    const goesOn = nextRow > 0 && !isFull;
    if (others.length === 0 && !goesOn) {
      return response.redirect(303, `${path}?done=${isFull ? "limit" : "monitored"}`);
    }
    const back = html`<a class="button quiet" href="${path}">Go back</a>`;
    const notice = isFull ? notices.limit : undefined;
    const content = html`${others.length > 0 && refusedTable(others, view.path)}
${
  goesOn
    ? html`<p>The ${others.length > 0 && "other "}vendors that passed up to row ${numberText(nextRow)} have a monitor. Continue with the others.</p>
<form method="post" action="${path}/monitors" data-busy="Creating monitors …"${others.length === 0 && html` data-goes-on`}>
  <input type="hidden" name="after" value="${String(nextRow)}"><input type="hidden" name="frequency" value="${name}">
  <p class="choices"><button>Continue</button> ${back}</p>
</form>`
    : html`${!isFull && html`<p>All other vendors that passed have a monitor.</p>`}<p>${back}</p>`
}`;
    layout.sendPage(response, { visit, title: "Monitor all that passed", notice, content });
  };
}

const isLimitReached = (refused: readonly Refused[]) => refused.some(({ error }) => error.code === "limit_exceeded");

function refusedTable(refused: readonly Refused[], path: string) {
  return section("refused", `${counted(refused.length, "vendor")} got no monitor`)`${table<Refused>("list", refused, [
    ["Vendor", ({ result }) => html`${vendorOf(result, path)}${aside(result.externalId, `row ${result.row}`)}`, "long"],
    ["Why", ({ error }) => whyText(error), "long"],
  ])}`;
}

function whyText({ details, message }: ServiceError): string {
  if (details.length === 0) return messageText(message);
  return details.map((each) => `The ${each.path.replace("external_id", "vendor number")} ${each.message}.`).join(" ");
}
