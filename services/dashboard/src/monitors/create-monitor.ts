import { ServiceError } from "@vvs/errors";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { FormUsedError, formIdempotency } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { createMonitorPage } from "./create-monitor-page.ts";
import { echoOfMonitor, emptyMonitor, type MonitorProblems, readMonitor, type TypedMonitor } from "./monitor-form.ts";

/** Why no monitor was created; shown with the form. */
interface Refusal {
  readonly status: number;
  readonly notice?: Notice;
  readonly problems?: MonitorProblems;
}

export function createCreateMonitorHandlers({ monitors, organization, readVendors, layout, formTokens }: PageContext) {
  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: TypedMonitor },
  ): Promise<void> {
    const { entity_id: entityId } = shown.input;
    const vendors = await readVendors(visit, entityId ? [{ entityId }] : []);
    const formToken = formTokens.issue(request, response);
    const content = createMonitorPage({ ...shown, view: visit.view, vendor: vendors?.get(entityId), formToken });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Create a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const { entity_id: entityId } = request.query;
      const chosen = typeof entityId === "string" ? { entity_id: entityId } : {};
      await sendForm(request, response, visit, { input: echoOfMonitor({ ...emptyMonitor, ...chosen }) });
    },

    async create(request, response, visit) {
      const typed = typedIn(request);
      const input = echoOfMonitor(typed);
      const read = readMonitor(typed);
      if ("problems" in read) {
        return sendForm(request, response, visit, { status: 400, input, problems: read.problems });
      }
      const { checks, ...wanted } = read.wanted;
      const { caller } = visit;
      try {
        const { monitor } = await formTokens.once(request, response, async (submission) => {
          const { activeMonitors } = await organization.getOrganization({ caller });
          const idempotency = formIdempotency(visit, "monitors", submission);
          const activeLimit = activeMonitors;
          return monitors.createMonitor({ ...wanted, caller, checks: [...checks], activeLimit, idempotency });
        });
        response.redirect(303, `${visit.view.path}/monitors/${monitor!.id}?done=created`);
      } catch (error) {
        await sendForm(request, response, visit, { ...refusalOf(error), input });
      }
    },
  } satisfies PageHandlers;
}

function typedIn(request: Request): TypedMonitor {
  return {
    entity_id: field(request, "entity_id"),
    checks: fieldValues(request, "checks"),
    frequency: field(request, "frequency"),
    webhook_url: field(request, "webhook_url"),
  };
}

const SENT_BEFORE =
  "This form was already sent, so no other monitor was created. Find the first one in the list of monitors.";
const UNAVAILABLE =
  "The monitor may not have been created, because a service is temporarily unavailable. Check the list of monitors before you try again.";

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof FormUsedError) return { status: 409, notice: { kind: "problem", text: SENT_BEFORE } };
  if (!(error instanceof ServiceError)) throw error;
  const notice: Notice = { kind: "problem", text: error.message };
  switch (error.code) {
    case "service_unavailable":
      return { status: 503, notice: { kind: "problem", text: UNAVAILABLE } };
    case "entity_not_found":
      return { status: 404, problems: { entity_id: "This entity does not exist in this environment." } };
    case "limit_exceeded":
    case "forbidden":
      return { status: 403, notice };
    case "invalid_request": {
      const url = error.details.find(({ path }) => path === "webhook_url");
      return url
        ? { status: 400, problems: { webhook_url: `The webhook URL ${url.message}.` } }
        : { status: 400, notice };
    }
    default:
      throw error;
  }
}
