import { expect, test } from "@jest/globals";
import { deliveryTest } from "../testing/delivery-test.ts";
import { changeEvent } from "../testing/replica.ts";
import { createSandboxLimit } from "./sandbox-limit.ts";

const { store, subscriber, replica, delivered } = await deliveryTest();

test("an organization's events beyond the sandbox's limit are not delivered, on any replica, and say why; another's are", async () => {
  const { url, posts } = await subscriber();
  const overLimit = createSandboxLimit({ db: store.db, eventsPerHour: 10 });
  // All in one hour.
  const at = new Date();
  const options = { overLimit, now: () => at };
  const replicas = [replica(options), replica(options)];
  const flood = Array.from({ length: 60 }, () => changeEvent(url("/victim")));
  const other = changeEvent(url("/other"), { organizationId: "org_2" });
  await Promise.all([replicas[0]!.take(...flood.slice(0, 30)), replicas[1]!.take(...flood.slice(30), other)]);
  await delivered(11);
  expect(posts.filter(({ path }) => path === "/victim")).toHaveLength(10);
  expect(posts.filter(({ path }) => path === "/other")).toHaveLength(1);
  const refused = await store.deliveries.find({ failure: "sandbox_limit" }).toArray();
  expect(refused).toHaveLength(50);
  for (const delivery of refused) {
    expect(delivery).toMatchObject({ status: "failed", attempts: [], next_attempt_at: null });
    expect(delivery).not.toHaveProperty("first_attempt_owed");
  }
  // Records that come again change nothing.
  await replicas[0]!.take(...flood);
  expect(await store.deliveries.countDocuments({ organization_id: "org_1", status: "delivered" })).toBe(10);
});

test("a new hour begins with the whole limit", async () => {
  const overLimit = createSandboxLimit({ db: store.db, eventsPerHour: 1 });
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 21, hour, 59));
  const delivery = (id: string) => ({ _id: id, organization_id: "org_hours" }) as never;
  expect([...(await overLimit([delivery("dlv_1"), delivery("dlv_2")], at(9)))]).toEqual(["dlv_2"]);
  expect([...(await overLimit([delivery("dlv_3")], at(9)))]).toEqual(["dlv_3"]);
  expect([...(await overLimit([delivery("dlv_4")], at(10)))]).toEqual([]);
});
