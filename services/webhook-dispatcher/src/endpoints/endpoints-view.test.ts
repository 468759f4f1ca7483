import { beforeEach, describe, expect, test } from "@jest/globals";
import { createTestDeliveries, later, stranger, type TestDeliveries, tenant } from "../testing/deliveries.ts";
import type { Endpoint } from "./endpoint.ts";
import { createEndpointsView, endpointState } from "./endpoints-view.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;
const kept = await createTestDeliveries();

describe("an endpoint", () => {
  test.each<[string, string, Parameters<typeof endpointState>[0]]>([
    ["with a delivered last attempt", "healthy", { failing_since: null, last_failure_at: later(0), gone_at: null }],
    [
      "that failed once, however long ago",
      "troubled",
      { failing_since: later(0), last_failure_at: later(0), gone_at: null },
    ],
    [
      "that fails for less than a day",
      "troubled",
      { failing_since: later(0), last_failure_at: later(23 * HOUR), gone_at: null },
    ],
    [
      "that failed every attempt at an event",
      "failing",
      { failing_since: later(15), last_failure_at: later(DAY), gone_at: null },
    ],
    ["that answered 410", "gone", { failing_since: later(0), last_failure_at: later(0), gone_at: later(0) }],
    [
      "that answered 410 days ago and has failed in other ways since",
      "gone",
      { failing_since: later(0), last_failure_at: later(3 * DAY), gone_at: later(0) },
    ],
  ])("%s is %s", (_name, expected, endpoint) => {
    expect(endpointState(endpoint)).toBe(expected);
  });
});

describe("the endpoints of an organization", () => {
  const view = createEndpointsView(kept);
  const now = later(10 * DAY);

  beforeEach(async () => {
    await kept.clear();
    await add("used_before", { updated_at: later(1) });
    await add("used_last", { updated_at: later(2) });
    await add("troubled", { failing_since: later(9 * DAY), last_failure_at: later(9 * DAY) });
    await add("failing", { failing_since: later(8 * DAY), last_failure_at: later(9 * DAY) });
    await add("failing_longer", { failing_since: later(7 * DAY), last_failure_at: later(9 * DAY) });
    await add("gone", { failing_since: later(9 * DAY - 1), last_failure_at: later(9 * DAY), gone_at: later(9 * DAY) });
    await add("out_of_use", { failing_since: later(0), last_failure_at: later(2 * DAY) });
    await add("foreign", { failing_since: later(0), last_failure_at: later(9 * DAY) }, stranger.organizationId);
  });

  const add = (...args: Parameters<TestDeliveries["addEndpoint"]>) => kept.addEndpoint(...args);

  const list = async (limit: number, flaggedOnly = false) => {
    const found = await view.list(tenant, { limit, flaggedOnly, now });
    return { ...found, endpoints: found.endpoints.map(({ url }) => url) };
  };

  test("begin with those that fail, longest first; the others follow, last used first", async () => {
    expect(await list(10)).toEqual({
      endpoints: ["out_of_use", "failing_longer", "failing", "gone", "troubled", "used_last", "used_before"],
      flaggedCount: 3,
      hasMore: false,
    });
  });

  test.each([1, 5, 6])("are listed up to %i, and the list says that there are more", async (limit) => {
    const { endpoints, hasMore, flaggedCount } = await list(limit);
    expect([endpoints.length, hasMore, flaggedCount]).toEqual([limit, true, 3]);
  });

  test("that were dismissed are neither listed nor flagged, until an event is attempted there again", async () => {
    const endpoints = kept.db.collection<Endpoint>("endpoints");
    for (const url of ["gone", "used_last"]) await view.dismiss(tenant, url);
    expect(await endpoints.countDocuments({ dismissed_at: { $type: "date" }, rev: 2 })).toBe(2);
    // The times of this test are not those of the store's clock.
    await endpoints.updateMany({ dismissed_at: { $type: "date" } }, { $set: { dismissed_at: later(9 * DAY + 1) } });
    expect(await list(10)).toEqual({
      endpoints: ["out_of_use", "failing_longer", "failing", "troubled", "used_before"],
      flaggedCount: 2,
      hasMore: false,
    });
    expect((await list(10, true)).endpoints).toEqual(["failing_longer", "failing"]);
    await endpoints.updateOne({ url: "gone" }, { $set: { last_failure_at: later(9 * DAY + 2) } });
    expect((await list(10)).endpoints).toContain("gone");
    expect((await list(10, true)).endpoints).toEqual(["failing_longer", "failing"]);
  });

  test("of another organization can’t be dismissed", async () => {
    await view.dismiss(stranger, "gone");
    expect((await list(10, true)).endpoints).toContain("gone");
    expect(await view.has(stranger, "gone")).toBe(false);
  });

  test("can be limited to flagged ones: failing for a day or gone, and still in use", async () => {
    expect(await list(10, true)).toEqual({
      endpoints: ["failing_longer", "failing", "gone"],
      flaggedCount: 3,
      hasMore: false,
    });
  });
});
