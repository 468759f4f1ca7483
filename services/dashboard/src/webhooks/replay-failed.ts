import { randomBytes } from "node:crypto";
import { field } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { pathWithQuery } from "../http/paths.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { deliveriesUnavailable } from "./deliveries-page.ts";
import { localTime, type ReplayChoice, readReplayChoice, utcTime } from "./delivery-filter.ts";
import { replayFailedPage } from "./replay-failed-page.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const REPLAY_ID = /^[\w-]{16,100}$/;

export function createReplayFailedHandlers({ deliveries, layout, formTokens, logger, now }: PageContext) {
  return {
    async ask(request, response, visit) {
      const page = { visit, section: "webhooks", title: "Replay failed deliveries" } as const;
      const { filter: choice, problems, isRefused } = readReplayChoice(request.query);
      const isChosen = choice.since !== "" && !isRefused;
      const count = () => deliveries.countFailed({ caller: visit.caller, filter: requestOf(choice) });
      const counted = isChosen ? await unlessUnavailable(logger, visit, count) : undefined;
      if (isChosen && !counted) return layout.sendPage(response, unavailablePage(page, deliveriesUnavailable));
      const content = replayFailedPage({
        visit,
        choice: choice.since === "" ? { ...choice, since: localTime(new Date(now().getTime() - DAY_MS)) } : choice,
        problems,
        count: counted && Number(counted.count),
        replayId: randomBytes(16).toString("base64url"),
        formToken: formTokens.issue(request, response),
      });
      layout.sendPage(response, { ...page, status: isRefused ? 400 : 200, content });
    },

    async run(request, response, visit) {
      const { filter: choice, isRefused } = readReplayChoice(request.body ?? {});
      const replayId = field(request, "replay_id");
      // Only a form that was tampered with has such problems.
      if (isRefused || choice.since === "" || !REPLAY_ID.test(replayId)) throw new ProblemError("malformed");
      const path = `${visit.view.path}/webhooks/deliveries`;
      try {
        const { count } = await formTokens.once(request, response, () =>
          deliveries.replayFailed({ caller: visit.caller, filter: requestOf(choice), replayId }),
        );
        const { since: from, monitor_id, url } = choice;
        response.redirect(303, pathWithQuery(path, { from, monitor_id, url, begun: String(count) }));
      } catch (error) {
        if (!(error instanceof FormUsedError)) throw error;
        response.redirect(303, path);
      }
    },
  } satisfies PageHandlers;
}

function requestOf({ since, monitor_id, url }: ReplayChoice["filter"]) {
  return { since: utcTime(since), monitorId: monitor_id, webhookUrl: url };
}
