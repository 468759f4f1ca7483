import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AccountService, UsageInterval } from "@vvs/proto/account/v1/account";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { apiKeyState } from "./api-key-state.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import { planPage } from "./pages/plan.ts";
import type { ReadPanel } from "./panels.ts";
import { rangesAt } from "./usage.ts";
import { busiestOf } from "./usage-figures.ts";

const CONFIRMED: Notice = { kind: "done", text: "Your identity is confirmed. Nothing was done yet." };

/** Shows the organization's plan, its limits, and how much of them is used now. */
export function createOrganizationHandler(options: {
  account: Pick<Client<typeof AccountService>, "getOrganization" | "listApiKeys" | "getUsage">;
  monitors: Pick<Client<typeof MonitorService>, "countMonitors">;
  readPanel: ReadPanel;
  layout: Layout;
  now: () => Date;
}): PageHandler {
  const { account, monitors, readPanel, layout, now } = options;

  const monitorsOf = (visit: Visit) =>
    readPanel(visit, "monitors", async (call) => {
      const { active } = await monitors.countMonitors({ caller: toProtoCaller(visit.caller) }, call);
      return active;
    });

  /** Of the key and the hour of the last 24 with the most requests. */
  const busiestHour = (visit: Visit) =>
    readPanel(visit, "usage", async (call) => {
      const { from, to } = rangesAt(now())[0]!;
      const caller = toProtoCaller(visit.caller);
      const asked = { caller, from: timestampFromDate(from), to: timestampFromDate(to) };
      const { counts } = await account.getUsage({ ...asked, interval: UsageInterval.HOUR }, call);
      return busiestOf(counts);
    });

  return async (request, response, visit) => {
    const caller = toProtoCaller(visit.caller);
    const [organization, { keys }, activeMonitors, busiest] = await Promise.all([
      account.getOrganization({ caller }),
      account.listApiKeys({ caller }),
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
