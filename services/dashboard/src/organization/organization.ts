import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import { UsageInterval, type UsageService } from "@vvs/proto/account/v1/usage";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { apiKeyState } from "../api-keys/api-key-state.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { ReadPanel } from "../ui/panels.ts";
import type { Notice } from "../ui/parts.ts";
import { busiestOf } from "../usage/usage-figures.ts";
import { rangesAt } from "../usage/usage-range.ts";
import { planPage } from "./plan-page.ts";

const CONFIRMED: Notice = {
  kind: "done",
  text: "Your identity is confirmed. Your previous action was not carried out yet. Start it again.",
};

/** Creates the handler of the plan page: the organization's plan, its limits and current use. */
export function createOrganizationHandler(options: {
  organization: Pick<Client<typeof OrganizationService>, "getOrganization">;
  apiKeys: Pick<Client<typeof ApiKeyService>, "listApiKeys">;
  usage: Pick<Client<typeof UsageService>, "getUsage">;
  monitors: Pick<Client<typeof MonitorService>, "countMonitors">;
  readPanel: ReadPanel;
  layout: Layout;
  now: () => Date;
}): PageHandler {
  const { monitors, readPanel, layout, now } = options;

  const monitorsOf = (visit: Visit) =>
    readPanel(visit, "monitors", async (call) => {
      const { active } = await monitors.countMonitors({ caller: toProtoCaller(visit.caller) }, call);
      return active;
    });

  /** Returns the busiest hour of one key in the last 24 hours. */
  const busiestHour = (visit: Visit) =>
    readPanel(visit, "usage", async (call) => {
      const { from, to } = rangesAt(now())[0]!;
      const caller = toProtoCaller(visit.caller);
      const period = { from: timestampFromDate(from), to: timestampFromDate(to) };
      const { counts } = await options.usage.getUsage({ caller, ...period, interval: UsageInterval.HOUR }, call);
      return busiestOf(counts);
    });

  return async (request, response, visit) => {
    const caller = toProtoCaller(visit.caller);
    const [organization, { keys }, activeMonitors, busiest] = await Promise.all([
      options.organization.getOrganization({ caller }),
      options.apiKeys.listApiKeys({ caller }),
      monitorsOf(visit),
      busiestHour(visit),
    ]);
    const content = planPage({
      view: visit.view,
      organization,
      mayAudit: visit.may("read_audit_log"),
      activeKeys: keys.filter((key) => apiKeyState(key, now()) === "active").length,
      activeMonitors,
      busiest,
      notice: request.query.done === "confirmed" ? CONFIRMED : undefined,
    });
    layout.sendPage(response, { visit, section: "organization", title: "Plan and limits", content });
  };
}
