import { expect, test } from "@jest/globals";
import { createClient, type MonitorEvent } from "@vendor-verification/client";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { watchingOrganization } from "../support/watching-organization.ts";

const own = await watchingOrganization();

test("a caller without a webhook that waits for events reads each of them once, oldest first", async () => {
  const { organization, watch } = own;
  const other = await createOrganization();
  const client = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: organization.keys.sandbox });
  const watched = [await watch("", { webhook_url: undefined }), await watch("", { webhook_url: undefined })];
  expect(watched.filter((monitor) => "webhook_url" in monitor)).toEqual([]);
  const seen: MonitorEvent[] = [];
  let cursor = "start";
  for await (const page of client.followEvents({ after: cursor, limit: 1 })) {
    seen.push(...page.events);
    cursor = page.next_cursor;
    if (seen.length === 4) break;
  }
  for (const { id } of watched) await client.cancelMonitor(id);
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
