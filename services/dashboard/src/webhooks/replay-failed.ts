import { randomBytes } from "node:crypto";
import type { Request } from "express";
import { field } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { deliveriesUnavailablePage } from "./deliveries-unavailable.ts";
import { localTime, readDeliveryFilter, utcTime } from "./delivery-filter.ts";
import { type ReplayChoice, type ReplayProblems, replayFailedPage } from "./replay-failed-page.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const REPLAY_ID = /^[\w-]{16,100}$/;

export function createReplayFailedHandlers({ deliveries, layout, formTokens, logger, now }: PageContext) {
  return {
    async ask(request, response, visit) {
      const page = { visit, section: "webhooks", title: "Replay failed deliveries" } as const;
      const { choice, problems } = readChoice(request.query);
      const isAsked = choice.since !== "" && Object.keys(problems).length === 0;
      const { caller } = visit;
      const count = () => deliveries.countFailed({ caller, filter: filterOf(choice) });
      const counted = isAsked ? await unlessUnavailable(logger, visit, count) : undefined;
      if (isAsked && !counted) {
        return layout.sendPage(response, { ...page, status: 503, content: deliveriesUnavailablePage(page.title) });
      }
      const content = replayFailedPage({
        view: visit.view,
        choice: choice.since === "" ? { ...choice, since: localTime(new Date(now().getTime() - DAY_MS)) } : choice,
        problems,
        count: counted && Number(counted.count),
        replayId: randomBytes(16).toString("base64url"),
        formToken: formTokens.issue(request, response),
      });
      const status = Object.keys(problems).length > 0 ? 400 : 200;
      layout.sendPage(response, { ...page, status, content });
    },

    async run(request, response, visit) {
      const { choice, problems } = readChoice(fieldsOf(request));
      const replayId = field(request, "replay_id");
      // Only a form that was tampered with has such problems.
      if (Object.keys(problems).length > 0 || choice.since === "" || !REPLAY_ID.test(replayId)) {
        throw new ProblemError("malformed");
      }
      const asked = { caller: visit.caller, filter: filterOf(choice), replayId };
      try {
        const { count } = await formTokens.once(request, response, () => deliveries.replayFailed(asked));
        const { since, monitor_id, url } = choice;
        const search = new URLSearchParams({ from: since, ...(monitor_id && { monitor_id }), ...(url && { url }) });
        response.redirect(303, `${visit.view.path}/webhooks/deliveries?${search.toString()}&begun=${count}`);
      } catch (error) {
        if (!(error instanceof FormUsedError)) throw error;
        response.redirect(303, `${visit.view.path}/webhooks/deliveries`);
      }
    },
  } satisfies PageHandlers;
}

function fieldsOf(request: Request): Record<keyof ReplayChoice, string> {
  return { since: field(request, "since"), monitor_id: field(request, "monitor_id"), url: field(request, "url") };
}

function readChoice(fields: Readonly<Record<string, unknown>>): { choice: ReplayChoice; problems: ReplayProblems } {
  const { since: from, monitor_id, url } = fields;
  const { filter, problems } = readDeliveryFilter({ from, monitor_id, url });
  const { from: since, ...others } = problems;
  const choice = { since: filter.from, monitor_id: filter.monitor_id, url: filter.url };
  return { choice, problems: { ...others, ...(since && { since }) } };
}

function filterOf({ since, monitor_id, url }: ReplayChoice) {
  return { since: utcTime(since), monitorId: monitor_id, webhookUrl: url };
}
