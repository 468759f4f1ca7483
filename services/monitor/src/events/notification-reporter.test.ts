import { beforeEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { Environment } from "@vvs/tenant";
import { captureLogs } from "@vvs/testing";
import { createTestDomain, someCaller, someMonitor } from "../testing/domain.ts";
import { detectedChange, type Monitored } from "../testing/records.ts";
import { observeWaitingNotifications, reportNotifications } from "./notification-reporter.ts";
import { notificationsOf } from "./notifications.ts";

const { metric } = recordTelemetry();
const domains = { live: await createTestDomain({ environment: "live" }), sandbox: await createTestDomain() };
beforeEach(async () => void (await notificationsOf(domains.live.db).deleteMany({})));

const leases = { held: () => Array.from({ length: 16 }, (_, shard) => shard) };
const waiting = (environment: Environment = "live") => notificationsOf(domains[environment].db).find().toArray();

async function newMonitor(environment: Environment = "live") {
  const caller = someCaller(environment);
  const { _id: id } = await domains[environment].started(caller, someMonitor());
  return { tenant: caller.tenant, id };
}

function detected(monitor: Monitored) {
  const changes = [
    { field: "tin_match.status", previous: "pass", current: "fail" },
    { field: "tin_match.tin", previous: "****1234", current: "****6789" },
  ];
  const vendor = { entityName: "Blue Harbor LLC", externalId: "E-1" };
  return detectedChange(monitor, { at: domains.live.clock.at, ...vendor, changes });
}

interface Reported {
  organizationId?: string;
  notifications?: readonly object[];
}

/** Stands in for account: `refuse` throws for a report that it does not take. */
function account(refuse: (report: Reported) => void = () => undefined) {
  const reports: Reported[] = [];
  const notifications = {
    async reportNotifications(report: Reported) {
      refuse(report);
      reports.push(report);
      return {};
    },
  } as unknown as Parameters<typeof reportNotifications>[1]["notifications"];
  const { logger, lines } = captureLogs();
  return { reports, lines, report: () => reportNotifications(domains.live.db, { leases, notifications, logger }) };
}

test("an event is reported once with its vendor and its changes, and with nothing of a TIN, however often its record comes", async () => {
  const monitor = await newMonitor();
  const record = detected(monitor);
  await domains.live.records.changeDetected(record);
  const { reports, report } = account();
  await report();
  await domains.live.records.changeDetected(record);
  await report();
  expect(reports).toEqual([
    {
      organizationId: monitor.tenant.organizationId,
      notifications: [
        {
          id: record.eventId,
          about: {
            case: "vendorChanged",
            value: {
              entityId: record.entityId,
              entityName: "Blue Harbor LLC",
              externalId: "E-1",
              changes: [
                { field: "tin_match.status", previous: "pass", current: "fail" },
                { field: "tin_match.tin", previous: undefined, current: undefined },
              ],
            },
          },
        },
      ],
    },
  ]);
  expect(await waiting()).toEqual([]);
});

test("nobody is notified of what happens in the sandbox", async () => {
  await domains.sandbox.records.changeDetected(detected(await newMonitor("sandbox")));
  expect(await waiting("sandbox")).toEqual([]);
});

test("events of several organizations are reported apart, more than a batch", async () => {
  const [one, two] = [await newMonitor(), await newMonitor()];
  const inserted = Array.from({ length: 130 }, (_, i) => {
    const { organizationId: organization_id } = (i % 2 ? one : two).tenant;
    const changes = [{ field: "sam_registration.cage", previous: null, current: "1ABC2" }];
    return { _id: newId("evt"), organization_id, entity_id: "ent_1", entity_name: "", changes, shard: 0 };
  });
  await notificationsOf(domains.live.db).insertMany(inserted);
  const { reports, report } = account();
  await report();
  const counts = new Map<string, number>();
  for (const { organizationId = "", notifications = [] } of reports) {
    expect(notifications.length).toBeLessThanOrEqual(100);
    counts.set(organizationId, (counts.get(organizationId) ?? 0) + notifications.length);
  }
  expect([...counts.values()]).toEqual([65, 65]);
  expect(await waiting()).toEqual([]);
});

test("what account refuses is dropped and holds up no other; while it is unavailable all stay", async () => {
  const monitor = await newMonitor();
  const records = [detected(monitor), detected(monitor), detected(await newMonitor())];
  for (const record of records) await domains.live.records.changeDetected(record);
  const unavailable = account(() => {
    throw new ServiceError("service_unavailable");
  });
  await expect(unavailable.report()).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await waiting()).toHaveLength(3);
  const idsOf = ({ notifications = [] }: Reported) => notifications.map((each) => (each as { id: string }).id);
  const [refused, ...others] = records.map(({ eventId }) => eventId);
  const refusing = account((report) => {
    if (idsOf(report).includes(refused!)) throw new ServiceError("invalid_request");
  });
  await refusing.report();
  expect(refusing.reports.flatMap(idsOf).toSorted()).toEqual(others.toSorted());
  expect(refusing.lines).toMatchObject([{ level: "error", notification_id: refused }]);
  expect(await waiting()).toEqual([]);
});

test("operators see how many wait", async () => {
  const { reports, report } = account();
  await domains.live.records.changeDetected(detected(await newMonitor()));
  const close = observeWaitingNotifications(domains.live.db);
  const count = async () => (await metric("monitor_notifications_waiting"))!.dataPoints.map(({ value }) => value);
  expect(await count()).toEqual([1]);
  await report();
  expect(reports).toHaveLength(1);
  expect(await count()).toEqual([0]);
  close();
});
