import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../http/form-refusal.ts";
import { pathId } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { checkName } from "../ui/checks.ts";
import { echoOfMonitor, frequencyName, type MonitorInput, readMonitor } from "./monitor-form.ts";
import { changeMonitorPage } from "./monitor-form-page.ts";

const refusals: RefusalTexts = {
  invalid: "Nothing was changed. Correct the marked fields and try again.",
  codes: ["monitor_canceled"],
  fields: { webhook_url: "webhook URL", external_id: "vendor number" },
};

/** Creates the handlers that change the frequency, webhook URL and vendor number of an active monitor. */
export function createChangeMonitorHandlers({ monitors, readVendors, layout }: PageContext) {
  async function find(request: Request, { caller }: Visit): Promise<Monitor> {
    return (await monitors.getMonitor({ caller, monitorId: pathId(request, "monitor_id", "mon") })).monitor!;
  }

  async function sendForm(
    response: Response,
    visit: Visit,
    monitor: Monitor,
    shown: Partial<Refusal> & { input: MonitorInput },
  ): Promise<void> {
    const vendorName = (await readVendors(visit, [monitor]))?.get(monitor.entityId)?.legalName;
    const content = changeMonitorPage({ ...shown, visit, monitorId: monitor.id, vendorName });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Change a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const monitor = await find(request, visit);
      if (monitor.status !== "active") return response.redirect(303, `${visit.view.path}/monitors/${monitor.id}`);
      await sendForm(response, visit, monitor, { input: inputOf(monitor) });
    },

    // Repeating the form changes nothing, so it needs no token.
    async change(request, response, visit) {
      const monitor = await find(request, visit);
      const typed = {
        ...inputOf(monitor),
        frequency: field(request, "frequency"),
        webhook_url: field(request, "webhook_url"),
        external_id: field(request, "external_id"),
      };
      const input = echoOfMonitor(typed);
      const read = readMonitor(typed);
      if (read.problems) return sendForm(response, visit, monitor, { ...invalid(read.problems, refusals), input });
      const { frequency, webhookUrl, externalId } = read.request;
      const { caller } = visit;
      try {
        await monitors.updateMonitor({ caller, monitorId: monitor.id, frequency, webhookUrl, externalId });
        response.redirect(303, `${visit.view.path}/monitors/${monitor.id}?done=changed`);
      } catch (error) {
        await sendForm(response, visit, monitor, { ...refusalOf(error, refusals), input });
      }
    },
  } satisfies PageHandlers;
}

function inputOf({ entityId, checks, frequency, webhookUrl, externalId }: Monitor): MonitorInput {
  return {
    entity_id: entityId,
    checks: checks.map(checkName),
    frequency: frequencyName(frequency),
    webhook_url: webhookUrl,
    external_id: externalId,
  };
}
