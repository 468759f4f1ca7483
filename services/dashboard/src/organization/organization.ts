import { apiKeyState } from "../api-keys/api-key-state.ts";
import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { CONFIRMED, noticeOf } from "../ui/notices.ts";
import { readLastDay } from "../usage/last-day.ts";
import { busiestOf } from "../usage/usage-figures.ts";
import { planPage } from "./plan-page.ts";

/** Creates the handler of the plan page: the organization's plan, its limits and current use. */
export function createOrganizationHandler(context: PageContext): PageHandler {
  const { readPanel, layout, now } = context;
  return async (request, response, visit) => {
    const { caller } = visit;
    const [organization, { keys }, monitors, usage] = await Promise.all([
      context.organization.getOrganization({ caller }),
      context.apiKeys.listApiKeys({ caller }),
      readPanel(visit, "monitors", (call) => context.monitors.countMonitors({ caller }, call)),
      readPanel(visit, "usage", (call) => readLastDay(context, visit, call)),
    ]);
    const content = planPage({
      visit,
      organization,
      activeKeys: keys.filter((key) => apiKeyState(key, now()) === "active").length,
      activeMonitors: monitors?.active,
      busiest: usage && busiestOf(usage.counts),
      notice: noticeOf(request, { confirmed: CONFIRMED }),
    });
    layout.sendPage(response, { visit, section: "organization", title: "Plan and limits", content });
  };
}
