import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { UsageInterval, type UsageService } from "@vvs/proto/account/v1/usage";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoCaller, toProtoEnvironment } from "@vvs/tenant";
import type { ReadVendors } from "../entities/vendors.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { ReadPanel } from "../ui/panels.ts";
import { rangesAt } from "../usage/usage-range.ts";
import type { ReadEndpoints } from "../webhooks/endpoints.ts";
import { overviewPage } from "./overview-page.ts";

/** Maximum number of items in each list of the overview. */
const LIST_LENGTH = 5;

/** Creates the handler of the overview: what needs attention, what is new, and the first steps of a new organization. */
export function createOverviewHandler(options: {
  apiKeys: Pick<Client<typeof ApiKeyService>, "listApiKeys">;
  usage: Pick<Client<typeof UsageService>, "getUsage">;
  monitors: Pick<Client<typeof MonitorService>, "listMonitors" | "getMonitor" | "listEvents">;
  verification: Pick<Client<typeof VerificationService>, "listVerifications" | "listProviders">;
  readEndpoints: ReadEndpoints;
  readVendors: ReadVendors;
  readPanel: ReadPanel;
  layout: Layout;
  now: () => Date;
}): PageHandler {
  const { monitors, verification, readEndpoints, readVendors, readPanel, layout, now } = options;

  const keysOf = (visit: Visit) =>
    readPanel(visit, "keys", async (call) => {
      const { keys } = await options.apiKeys.listApiKeys({ caller: toProtoCaller(visit.caller) }, call);
      return keys;
    });

  const usageOf = (visit: Visit) =>
    readPanel(visit, "usage", async (call) => {
      const range = rangesAt(now())[0]!;
      const [from, to] = [timestampFromDate(range.from), timestampFromDate(range.to)];
      const request = { caller: toProtoCaller(visit.caller), from, to, interval: UsageInterval.HOUR };
      return { range, counts: (await options.usage.getUsage(request, call)).counts };
    });

  const providersOf = (visit: Visit) =>
    readPanel(visit, "providers", async (call) => {
      const environment = toProtoEnvironment(visit.view.environment);
      return (await verification.listProviders({ environment }, call)).providers;
    });

  const verificationsOf = (visit: Visit) =>
    readPanel(visit, "verifications", async (call) => {
      const request = { caller: toProtoCaller(visit.caller), page: { limit: LIST_LENGTH } };
      return (await verification.listVerifications(request, call)).verifications;
    });

  const monitorsOf = (visit: Visit, lastOutcome: CheckStatus, limit: number) =>
    readPanel(visit, "monitors", async (call) => {
      const request = { caller: toProtoCaller(visit.caller), lastOutcome, page: { limit } };
      return (await monitors.listMonitors(request, call)).monitors;
    });

  /** Returns the newest events, each with the entity of its monitor. */
  const eventsOf = (visit: Visit) =>
    readPanel(visit, "events", async (call) => {
      const caller = toProtoCaller(visit.caller);
      const { events } = await monitors.listEvents({ caller, page: { limit: LIST_LENGTH } }, call);
      const ids = [...new Set(events.map(({ monitorId }) => monitorId))];
      const found = await Promise.all(ids.map((monitorId) => monitors.getMonitor({ caller, monitorId }, call)));
      const entityIds = new Map(found.map(({ monitor }) => [monitor!.id, monitor!.entityId]));
      return events.map((event) => ({ event, entityId: entityIds.get(event.monitorId)! }));
    });

  return async (_request, response, visit) => {
    const [keys, usage, providers, verifications, someMonitors, inError, events, endpoints, flagged] =
      await Promise.all([
        keysOf(visit),
        usageOf(visit),
        providersOf(visit),
        verificationsOf(visit),
        monitorsOf(visit, CheckStatus.UNSPECIFIED, 1),
        monitorsOf(visit, CheckStatus.ERROR, LIST_LENGTH),
        eventsOf(visit),
        readEndpoints(visit, { limit: 1 }),
        readEndpoints(visit, { limit: LIST_LENGTH, flaggedAlone: true }),
      ]);
    const items = [...(verifications ?? []), ...(inError ?? []), ...(events ?? [])];
    const vendors = await readVendors(
      visit,
      items.map(({ entityId }) => entityId),
    );
    const content = overviewPage({
      view: visit.view,
      may: visit.may,
      attention: { endpoints: flagged?.endpoints, monitors: inError, providers },
      completedSteps: {
        keys: keys && keys.length > 0,
        verifications: verifications && verifications.length > 0,
        monitors: someMonitors && someMonitors.length > 0,
        deliveries: endpoints && endpoints.endpoints.length > 0,
      },
      verifications,
      events,
      usage,
      vendors,
    });
    layout.sendPage(response, { visit, section: "overview", title: "Overview", content });
  };
}
