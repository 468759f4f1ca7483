import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { PageRequestSchema } from "@vvs/proto/common/v1/common";
import { createTestDeliveries, HOOK, later, start, stranger, tenant } from "../testing/deliveries.ts";
import { createDeliveryListing, type DeliveryFilter, type DeliveryListing } from "./listing.ts";

const kept = await createTestDeliveries();
const listing = createDeliveryListing(kept);

const page = (limit: number) => create(PageRequestSchema, { limit });
const eventsOf = async (filter: DeliveryFilter, whose = tenant) =>
  (await listing.list(whose, filter, page(100))).items.map(({ event_id }) => event_id);

describe("the list", () => {
  beforeAll(async () => {
    await kept.clear();
    await kept.add({ event_id: "failed", created_at: later(1) });
    await kept.add({ event_id: "delivered", status: "delivered", created_at: later(2), monitor_id: "mon_2" });
    await kept.add({ event_id: "pending", status: "pending", created_at: later(3), webhook_url: `${HOOK}/other` });
    await kept.add({ event_id: "test", test: true, created_at: later(4) });
    await kept.add({
      _id: "dlv_known",
      event_id: "evt_known",
      created_at: later(0.5),
      webhook_url: `${HOOK}/third`,
      monitor_id: "mon_3",
      status: "delivered",
    });
    await kept.add({
      _id: "dlv_foreign",
      event_id: "foreign",
      organization_id: stranger.organizationId,
      created_at: later(2),
    });
  });

  test.each<[string, DeliveryFilter, string[]]>([
    ["everything, newest first", {}, ["test", "pending", "delivered", "failed", "evt_known"]],
    ["one status", { status: "failed" }, ["test", "failed"]],
    ["what fails, also what waits for a retry", { status: "failing" }, ["test", "pending", "failed"]],
    ["one monitor", { monitorId: "mon_1" }, ["test", "pending", "failed"]],
    ["exactly one URL", { webhookUrl: HOOK }, ["test", "delivered", "failed"]],
    ["a time and later", { from: later(2) }, ["test", "pending", "delivered"]],
    ["before a time", { to: later(2) }, ["failed", "evt_known"]],
    ["tests", { testsOnly: true }, ["test"]],
    ["one event", { eventId: "evt_known" }, ["evt_known"]],
    ["the event of a test", { eventId: "test" }, ["test"]],
    ["an event of another organization", { eventId: "evt_foreign" }, []],
    [
      "all of these together",
      { status: "failed", monitorId: "mon_1", webhookUrl: HOOK, from: start, to: later(2) },
      ["failed"],
    ],
    ["an empty filter", { monitorId: "", webhookUrl: "" }, ["test", "pending", "delivered", "failed", "evt_known"]],
  ])("is filtered by %s", async (_name, filter, expected) => {
    expect(await eventsOf(filter)).toEqual(expected);
  });

  test("of another organization contains only its own deliveries, also for a URL that both have", async () => {
    expect(await eventsOf({}, stranger)).toEqual(["foreign"]);
    expect(await eventsOf({ webhookUrl: HOOK }, stranger)).toEqual(["foreign"]);
  });

  test("leaves out the subscribers’ answers; a single delivery includes them", async () => {
    const [first] = (await listing.list(tenant, { status: "failed" }, page(1))).items;
    expect(first!.attempts[0]).toMatchObject({ duration_ms: 41, answer_excerpt: "" });
    const found = await listing.find(tenant, first!._id);
    expect(found!.attempts[0]!.answer_excerpt).toBe("what the subscriber said");
    expect(await listing.find(stranger, first!._id)).toBeUndefined();
  });
});

test("what was never attempted, or is sent again after it arrived, does not fail", async () => {
  await kept.clear();
  const { attempts } = await kept.add({ event_id: "failed" });
  const { error: _error, ...well } = attempts[0]!;
  await kept.add({ event_id: "waiting", status: "pending", attempts: [] });
  await kept.add({ event_id: "again", status: "pending", attempts: [...attempts, { ...well, status_code: 200 }] });
  expect(await eventsOf({ status: "failing" })).toEqual(["failed"]);
  expect(await eventsOf({ status: "failing", eventId: "waiting" })).toEqual([]);
});

test("what fails is read page by page in the order of time, without gaps and repetitions", async () => {
  await kept.clear();
  for (let second = 0; second < 9; second++) {
    const status = second % 3 === 0 ? "failed" : "pending";
    await kept.add({ event_id: `${second}`, status, created_at: later(Math.floor(second / 2)) });
  }
  const all: string[] = [];
  let after: Awaited<ReturnType<DeliveryListing["list"]>>["next"];
  do {
    const next = await listing.list(tenant, { status: "failing" }, create(PageRequestSchema, { limit: 2, after }));
    all.push(...next.items.map(({ event_id }) => event_id));
    after = next.next;
  } while (after);
  expect(all).toHaveLength(9);
  expect(all).toEqual(await eventsOf({}));
});

describe("a page of a long list", () => {
  beforeAll(async () => {
    await kept.clear();
    const few = { status: "failed", test: true, monitor_id: "mon_few", webhook_url: `${HOOK}/few` } as const;
    const states = Array.from({ length: 400 }, (_, second) => {
      if (second % 40 === 0) return few;
      return { status: second % 40 === 1 ? ("pending" as const) : ("delivered" as const) };
    });
    await Promise.all(states.map((state, second) => kept.add({ created_at: later(second), ...state })));
  });

  test.each<[string, DeliveryFilter]>([
    ["everything", {}],
    ["what failed", { status: "failed" }],
    ["what fails", { status: "failing" }],
    ["what failed in a span of time", { status: "failed", from: later(10), to: later(200) }],
    ["what is pending", { status: "pending" }],
    ["one monitor", { monitorId: "mon_few" }],
    ["one URL", { webhookUrl: `${HOOK}/few` }],
    ["tests", { testsOnly: true }],
    ["a span of time", { from: later(100), to: later(300) }],
  ])("of %s reads little more than it shows", async (_name, filter) => {
    await kept.db.command({ profile: 2 });
    await listing.list(tenant, filter, page(3));
    await kept.db.command({ profile: 0 });
    const profile = kept.db.collection("system.profile");
    const [read] = await profile
      .find({ op: "query", ns: /deliveries$/ })
      .sort({ ts: -1 })
      .limit(1)
      .toArray();
    expect(read).toMatchObject({ nreturned: 4 });
    expect(read!.keysExamined).toBeLessThan(20);
    expect(read!.hasSortStage).toBeUndefined();
  });
});
