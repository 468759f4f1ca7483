import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AccountService, UsageInterval } from "@vvs/proto/account/v1/account";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoCaller, toProtoEnvironment } from "@vvs/tenant";
import type { ReadEndpoints } from "./endpoints.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import type { Layout } from "./pages/layout.ts";
import { overviewPage } from "./pages/overview.ts";
import type { ReadPanel } from "./panels.ts";
import { rangesAt } from "./usage.ts";
import type { ReadVendors } from "./vendors.ts";

const SHOWN = 5;

/** Shows what needs attention, what is new, and where nothing is yet, what to do first. */
export function createOverviewHandler(options: {
  account: Pick<Client<typeof AccountService>, "listApiKeys" | "getUsage">;
  monitors: Pick<Client<typeof MonitorService>, "listMonitors" | "getMonitor" | "listEvents">;
  verification: Pick<Client<typeof VerificationService>, "listVerifications" | "listProviders">;
  readEndpoints: ReadEndpoints;
  readVendors: ReadVendors;
  readPanel: ReadPanel;
  layout: Layout;
  now: () => Date;
}): PageHandler {
  const { account, monitors, verification, readEndpoints, readVendors, readPanel, layout, now } = options;

  const keysOf = (visit: Visit) =>
    readPanel(visit, "keys", async (call) => {
      const { keys } = await account.listApiKeys({ caller: toProtoCaller(visit.caller) }, call);
      return keys;
    });

  const usageOf = (visit: Visit) =>
    readPanel(visit, "usage", async (call) => {
      const range = rangesAt(now())[0]!;
      const [from, to] = [timestampFromDate(range.from), timestampFromDate(range.to)];
      const asked = { caller: toProtoCaller(visit.caller), from, to, interval: UsageInterval.HOUR };
      return { range, counts: (await account.getUsage(asked, call)).counts };
    });

  const providersOf = (visit: Visit) =>
    readPanel(visit, "providers", async (call) => {
      const environment = toProtoEnvironment(visit.view.environment);
      return (await verification.listProviders({ environment }, call)).providers;
    });

  const verificationsOf = (visit: Visit) =>
    readPanel(visit, "verifications", async (call) => {
      const asked = { caller: toProtoCaller(visit.caller), page: { limit: SHOWN } };
      return (await verification.listVerifications(asked, call)).verifications;
    });

  const monitorsOf = (visit: Visit, lastOutcome: CheckStatus, limit: number) =>
    readPanel(visit, "monitors", async (call) => {
      const asked = { caller: toProtoCaller(visit.caller), lastOutcome, page: { limit } };
      return (await monitors.listMonitors(asked, call)).monitors;
    });

  /** The newest events, and whose monitors they are of. */
  const eventsOf = (visit: Visit) =>
    readPanel(visit, "events", async (call) => {
      const caller = toProtoCaller(visit.caller);
      const { events } = await monitors.listEvents({ caller, page: { limit: SHOWN } }, call);
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
        monitorsOf(visit, CheckStatus.ERROR, SHOWN),
        eventsOf(visit),
        readEndpoints(visit, { limit: 1 }),
        readEndpoints(visit, { limit: SHOWN, flaggedAlone: true }),
      ]);
    const named = [...(verifications ?? []), ...(inError ?? []), ...(events ?? [])];
    const vendors = await readVendors(
      visit,
      named.map(({ entityId }) => entityId),
    );
    const content = overviewPage({
      view: visit.view,
      may: visit.may,
      attention: { endpoints: flagged?.endpoints, monitors: inError, providers },
      begun: {
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
