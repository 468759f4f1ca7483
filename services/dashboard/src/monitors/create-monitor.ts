import { ServiceError } from "@vvs/errors";
import type { Request, Response } from "express";
import { field, fieldValues, queryValue } from "../http/form.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../http/form-refusal.ts";
import { formIdempotency } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { liveTinMatchHint } from "../organization/live-tin-match.ts";
import type { PageContext } from "../page-context.ts";
import { echoOfMonitor, emptyMonitor, type MonitorInput, readMonitor } from "./monitor-form.ts";
import { createMonitorPage } from "./monitor-form-page.ts";

const refusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so no other monitor was created. Find the first one in the list of monitors.",
  unavailable:
    "The monitor may not have been created, because a service is temporarily unavailable. Check the list of monitors before you try again.",
  invalid: "No monitor was created. Correct the marked fields and try again.",
  codes: ["limit_exceeded", "forbidden"],
  fields: { webhook_url: "webhook URL", external_id: "vendor number" },
};

export function createCreateMonitorHandlers(context: PageContext) {
  const { monitors, organization, readVendors, layout, formTokens, apiBaseUrl } = context;

  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: MonitorInput },
  ): Promise<void> {
    const { entity_id: entityId } = shown.input;
    const [vendors, tinHint] = await Promise.all([
      readVendors(visit, entityId ? [{ entityId }] : []),
      liveTinMatchHint(context, visit),
    ]);
    const vendorName = vendors?.get(entityId)?.legalName;
    const formToken = formTokens.issue(request, response);
    const content = createMonitorPage({ ...shown, visit, vendorName, tinHint, formToken, apiBaseUrl });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Create a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const input = echoOfMonitor({ ...emptyMonitor, entity_id: queryValue(request, "entity_id") });
      await sendForm(request, response, visit, { input });
    },

    async create(request, response, visit) {
      const typed = monitorInput(request);
      const input = echoOfMonitor(typed);
      const read = readMonitor(typed);
      if (read.problems) return sendForm(request, response, visit, { ...invalid(read.problems, refusals), input });
      const { caller } = visit;
      try {
        const { monitor } = await formTokens.once(request, response, async (submission) => {
          const { activeMonitors: activeLimit } = await organization.getOrganization({ caller });
          const idempotency = formIdempotency(visit, "monitors", submission);
          return monitors.createMonitor({ ...read.request, caller, activeLimit, idempotency });
        });
        response.redirect(303, `${visit.view.path}/monitors/${monitor!.id}?done=created`);
      } catch (error) {
        await sendForm(request, response, visit, { ...createRefusal(error), input });
      }
    },
  } satisfies PageHandlers;
}

function monitorInput(request: Request): MonitorInput {
  return {
    entity_id: field(request, "entity_id"),
    checks: fieldValues(request, "checks"),
    frequency: field(request, "frequency"),
    webhook_url: field(request, "webhook_url"),
    external_id: field(request, "external_id"),
  };
}

function createRefusal(error: unknown): Refusal {
  if (!(error instanceof ServiceError) || error.code !== "entity_not_found") return refusalOf(error, refusals);
  const problems = { entity_id: "This vendor does not exist in this environment." };
  return { ...invalid(problems, refusals), status: 404 };
}
