import { ServiceError } from "@vvs/errors";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, Response } from "express";
import { field, fieldValues } from "./http/form.ts";
import { formIdempotency } from "./http/form-idempotency.ts";
import { type FormTokens, FormUsedError } from "./http/form-token.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { echoOfMonitor, emptyMonitor, type MonitorProblems, readMonitor, type TypedMonitor } from "./monitor-form.ts";
import { createMonitorPage } from "./pages/create-monitor.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import type { ReadVendors } from "./vendors.ts";

export interface CreateMonitorHandlers {
  readonly ask: PageHandler;
  readonly create: PageHandler;
}

/** Why the form is shown again instead of a monitor. */
interface Refusal {
  readonly status: number;
  readonly notice?: Notice;
  readonly problems?: MonitorProblems;
}

export function createCreateMonitorHandlers(options: {
  monitors: Pick<Client<typeof MonitorService>, "createMonitor">;
  account: Pick<Client<typeof AccountService>, "getOrganization">;
  readVendors: ReadVendors;
  layout: Layout;
  formTokens: FormTokens;
}): CreateMonitorHandlers {
  const { monitors, account, readVendors, layout, formTokens } = options;

  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: TypedMonitor },
  ): Promise<void> {
    const { entity_id: entityId } = shown.input;
    const vendors = await readVendors(visit, entityId ? [entityId] : []);
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
      const caller = toProtoCaller(visit.caller);
      try {
        const { monitor } = await formTokens.once(request, response, async (submission) => {
          const { activeMonitors } = await account.getOrganization({ caller });
          const idempotency = formIdempotency(visit, "monitors", submission);
          const activeLimit = activeMonitors;
          return monitors.createMonitor({ ...wanted, caller, checks: [...checks], activeLimit, idempotency });
        });
        response.redirect(303, `${visit.view.path}/monitors/${monitor!.id}?done=created`);
      } catch (error) {
        await sendForm(request, response, visit, { ...refusalOf(error), input });
      }
    },
  };
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
  "This form was sent before, so nothing was created now. What it created is in the list of monitors.";
const AWAY =
  "Whether the monitor was created is not known: a service is away for a moment. Look into the list of monitors before you send this again.";

/** What the user can put right, or has to know. Errors: all others, as they are. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof FormUsedError) return { status: 409, notice: { kind: "problem", text: SENT_BEFORE } };
  if (!(error instanceof ServiceError)) throw error;
  const notice: Notice = { kind: "problem", text: error.message };
  switch (error.code) {
    case "service_unavailable":
      return { status: 503, notice: { kind: "problem", text: AWAY } };
    case "entity_not_found":
      return { status: 404, problems: { entity_id: "There is no such entity in this environment." } };
    case "limit_exceeded":
    case "forbidden":
      return { status: 403, notice };
    case "invalid_request": {
      const url = error.details.find(({ path }) => path === "webhook_url");
      return url ? { status: 400, problems: { webhook_url: `The URL ${url.message}.` } } : { status: 400, notice };
    }
    default:
      throw error;
  }
}
