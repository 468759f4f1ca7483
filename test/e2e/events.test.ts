import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createClient, type MonitorEvent } from "@vendor-verification/client";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

let organization: TestOrganization;
let other: TestOrganization;
let changing: string;
const monitors: string[] = [];

beforeAll(async () => {
  organization = await createOrganization();
  other = await createOrganization();
  const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  changing = body.id;
});
afterAll(async () => {
  for (const id of monitors) await organization.sandbox.delete(`/v1/monitors/${id}`);
});

/** Creates a monitor without a URL on an entity that changes at each run; returns its id. */
async function monitor(): Promise<string> {
  const { status, body } = await organization.sandbox.post("/v1/monitors", {
    entity_id: changing,
    checks: ["sam_registration"],
    frequency: "hourly",
  });
  expect([status, "webhook_url" in body]).toEqual([201, false]);
  monitors.push(body.id);
  return body.id;
}

test("a caller without a webhook that waits for events reads each of them once, oldest first", async () => {
  const client = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: organization.keys.sandbox });
  const watched = [await monitor(), await monitor()];
  const seen: MonitorEvent[] = [];
  let cursor = "start";
  for await (const page of client.followEvents({ after: cursor, limit: 1 })) {
    seen.push(...page.events);
    cursor = page.next_cursor;
    if (seen.length === 4) break;
  }
  for (const id of watched) await client.cancelMonitor(id);
  for (;;) {
    const page = await client.readEvents({ after: cursor, wait: 2 });
    if (page.events.length === 0) break;
    seen.push(...page.events);
    cursor = page.next_cursor;
  }
  const { events } = (await organization.sandbox.get("/v1/events?limit=100")).body;
  expect(seen.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }: MonitorEvent) => id).toSorted());
  const again = (await organization.sandbox.get("/v1/events?after=start&limit=100")).body;
  expect(again.events).toEqual(seen);
  expect((await organization.live.get("/v1/events?after=start")).body.events).toEqual([]);
  expect((await other.sandbox.get("/v1/events?after=start")).body.events).toEqual([]);
  expect((await other.sandbox.get(`/v1/events?after=${cursor}`)).status).toBe(400);
});
