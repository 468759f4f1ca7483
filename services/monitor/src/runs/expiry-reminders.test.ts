import { beforeEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { addDays, registryDay } from "@vvs/registration";
import { captureLogs } from "@vvs/testing";
import { expiryRunAt } from "../model/next-run.ts";
import { callerIn, createTestDomain, someMonitor } from "../testing/domain.ts";
import { createRemindOfExpiry } from "./expiry-reminders.ts";

const DAY_MS = 24 * 60 * 60_000;
const domain = await createTestDomain({ environment: "live" });
beforeEach(async () => {
  await domain.monitors.deleteMany({});
});

const organizationId = newId("org");

/** Creates monitors of an entity whose registration ends so many days from now. */
async function expiring(days: number, { entityId = newId("ent"), monitors = 1 } = {}): Promise<string> {
  const caller = callerIn({ organizationId, environment: "live" });
  for (let n = 0; n < monitors; n++) {
    const { value } = await domain.commands.create(caller, someMonitor({ entityId, externalId: "E-1" }));
    const date = addDays(registryDay(domain.clock.at), days);
    const expiry_run_at = expiryRunAt(value._id, date, domain.clock.at)!;
    await domain.monitors.updateOne({ _id: value._id }, { $set: { expiry_run_at } });
  }
  return entityId;
}

type Options = Parameters<typeof createRemindOfExpiry>[0];

/** A replica that reports to a simulated account, which fails as often as given. */
function replica({ failures = 0, nameless = "", refused = "" } = {}) {
  const reported: string[] = [];
  let left = failures;
  const reportNotifications = async (report: {
    organizationId?: string;
    notifications?: { id?: string; about?: { value?: object } }[];
  }) => {
    if (left-- > 0) throw new ServiceError("service_unavailable");
    expect(report.organizationId).toBe(organizationId);
    if (refused && report.notifications!.some(({ id }) => id!.startsWith(refused)))
      throw new ServiceError("invalid_request");
    for (const { id, about } of report.notifications!) reported.push(`${id} ${JSON.stringify(about!.value)}`);
    return {};
  };
  const remind = createRemindOfExpiry({
    db: domain.db,
    notifications: { reportNotifications } as unknown as Options["notifications"],
    async nameOf(_tenant, entityId) {
      if (entityId === nameless) throw new ServiceError("entity_not_found");
      return `Name of ${entityId}`;
    },
    logger: captureLogs().logger,
    now: () => domain.clock.at,
  });
  return { reported, remind };
}

const reminderOf = (entityId: string, days: number, left = days) => {
  const expirationDate = addDays(registryDay(domain.clock.at), left);
  const value = { entityId, entityName: `Name of ${entityId}`, externalId: "E-1", expirationDate };
  return `${entityId}:expires:${expirationDate}:${days} ${JSON.stringify(value)}`;
};

test("registrations that end in 60, 30 or 7 days are reported with their day, a vendor with several monitors once", async () => {
  const ids = new Map<number, string>();
  for (const days of [61, 60, 59, 58, 31, 30, 8, 7, 6, 5, 0]) ids.set(days, await expiring(days, { monitors: 2 }));
  const { reported, remind } = replica();
  await remind();
  const expected = [
    [7, 7],
    [7, 6],
    [30, 30],
    [60, 60],
    [60, 59],
  ].map(([days, left]) => reminderOf(ids.get(left!)!, days!, left));
  expect(reported.toSorted()).toEqual(expected.toSorted());
});

test("a vendor whose name can't be read, or whose reminder account refuses, holds up no other", async () => {
  const [nameless, refused, other] = [await expiring(30), await expiring(30), await expiring(7)];
  const { reported, remind } = replica({ nameless, refused });
  await remind();
  await remind();
  const withoutName = reminderOf(nameless, 30).replace(`Name of ${nameless}`, "");
  expect(reported.toSorted()).toEqual([withoutName, reminderOf(other, 7)].toSorted());
});

test("what was reported is not reported again on that day, and on the next day with the same id", async () => {
  const entityId = await expiring(30);
  const { reported, remind } = replica();
  await remind();
  await remind();
  const [first] = reported;
  expect(reported).toEqual([reminderOf(entityId, 30)]);
  domain.pass(DAY_MS);
  await remind();
  expect(reported).toEqual([first, first]);
  domain.pass(DAY_MS);
  await remind();
  expect(reported).toHaveLength(2);
});

test("more than a batch is reported, and again while account is unavailable; a canceled monitor never", async () => {
  const canceled = await expiring(7);
  await domain.monitors.updateMany({ entity_id: canceled }, { $set: { status: "canceled" } });
  const [one] = [await expiring(7)];
  const monitor = (await domain.monitors.findOne({ entity_id: one }))!;
  const copies = Array.from({ length: 249 }, () => ({ ...monitor, _id: newId("mon"), entity_id: newId("ent") }));
  await domain.monitors.insertMany(copies);
  const { reported, remind } = replica({ failures: 1 });
  await expect(remind()).rejects.toMatchObject({ code: "service_unavailable" });
  await remind();
  expect(reported).toHaveLength(250);
  expect(new Set(reported).size).toBe(250);
});
