import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { checkName } from "../ui/checks.ts";
import type { Notice } from "../ui/parts.ts";
import { changeMonitorPage } from "./change-monitor-page.ts";
import { echoOfMonitor, frequencyName, type MonitorProblems, readMonitor, type TypedMonitor } from "./monitor-form.ts";

/** Creates the handlers that change the frequency and webhook URL of an active monitor. */
export function createChangeMonitorHandlers({ monitors, readVendors, layout }: PageContext) {
  async function find(request: Request, visit: Visit): Promise<Monitor> {
    const monitorId = String(request.params.monitor_id);
    if (!isId("mon", monitorId)) throw new ProblemError("page_not_found");
    return (await monitors.getMonitor({ caller: visit.caller, monitorId })).monitor!;
  }

  async function sendForm(
    response: Response,
    visit: Visit,
    monitor: Monitor,
    shown: { input: TypedMonitor; status?: number; notice?: Notice; problems?: MonitorProblems },
  ): Promise<void> {
    const vendors = await readVendors(visit, [monitor]);
    const vendor = vendors?.get(monitor.entityId);
    const content = changeMonitorPage({ ...shown, view: visit.view, monitorId: monitor.id, vendor });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Change a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const monitor = await find(request, visit);
      if (monitor.status !== "active") return response.redirect(303, `${visit.view.path}/monitors/${monitor.id}`);
      await sendForm(response, visit, monitor, { input: typedOf(monitor) });
    },

    // Repeating the form changes nothing, so it needs no token.
    async change(request, response, visit) {
      const monitor = await find(request, visit);
      const typed = {
        ...typedOf(monitor),
        frequency: field(request, "frequency"),
        webhook_url: field(request, "webhook_url"),
      };
      const input = echoOfMonitor(typed);
      const read = readMonitor(typed);
      if ("problems" in read)
        return sendForm(response, visit, monitor, { status: 400, input, problems: read.problems });
      const { frequency, webhookUrl } = read.wanted;
      try {
        const { caller } = visit;
        await monitors.updateMonitor({ caller, monitorId: monitor.id, frequency, webhookUrl });
        response.redirect(303, `${visit.view.path}/monitors/${monitor.id}?done=changed`);
      } catch (error) {
        await sendForm(response, visit, monitor, { input, status: 400, ...refusalOf(error) });
      }
    },
  } satisfies PageHandlers;
}

function typedOf({ entityId, checks, frequency, webhookUrl }: Monitor): TypedMonitor {
  return {
    entity_id: entityId,
    checks: checks.map(checkName),
    frequency: frequencyName(frequency),
    webhook_url: webhookUrl,
  };
}

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown): { notice: Notice } | { problems: MonitorProblems } {
  if (!(error instanceof ServiceError) || (error.code !== "invalid_request" && error.code !== "monitor_canceled"))
    throw error;
  const url = error.details.find(({ path }) => path === "webhook_url");
  if (url) return { problems: { webhook_url: `The webhook URL ${url.message}.` } };
  return { notice: { kind: "problem", text: error.message } };
}
