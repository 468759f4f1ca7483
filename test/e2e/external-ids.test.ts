import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

let organization: TestOrganization;
let subscriber: Subscriber;
/** An entity of the sandbox's registry that changes at each run. */
let changing: string;

beforeAll(async () => {
  subscriber = await startSubscriber();
  organization = await createOrganization();
  const identifiers = { uei: "SANDBXCHNGE1" };
  changing = (await organization.sandbox.post("/v1/entities/lookup", { identifiers })).body.id;
});
afterAll(async () => {
  subscriber.close();
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  await Promise.all(monitors.map(({ id }: { id: string }) => organization.sandbox.delete(`/v1/monitors/${id}`)));
});

const put = (external_id: string | null) =>
  organization.sandbox.request("PUT", `/v1/entities/${changing}/external_id`, { body: { external_id } });

test("a monitor's external_id is in its events and webhooks; without one they have the entity's", async () => {
  await put("ENTITY-1");
  const watch = async (path: string, fields: object = {}) => {
    const body = { entity_id: changing, checks: ["sam_registration"], frequency: "hourly", ...fields };
    const url = { webhook_url: new URL(path, subscriber.url).href };
    return (await organization.sandbox.post("/v1/monitors", { ...body, ...url })).body.id as string;
  };
  const [own, plain] = [await watch("/own", { external_id: "OWN-1" }), await watch("/plain")];
  for (const [id, path, expected] of [
    [own, "/own", "OWN-1"],
    [plain, "/plain", "ENTITY-1"],
  ] as const) {
    const post = await subscriber.waitForPost((received) => received.path === path);
    const body = JSON.parse(post.body);
    expect([body.monitor_id, body.external_id]).toEqual([id, expected]);
    const { events } = (await organization.sandbox.get(`/v1/monitors/${id}/events`)).body;
    expect(events.at(-1)).toMatchObject({ id: post.headers["webhook-id"], external_id: expected });
  }
  await put(null);
  await organization.sandbox.patch(`/v1/monitors/${own}`, { external_id: null });
  const isWithout = (path: string) =>
    subscriber.received.some((post) => post.path === path && !("external_id" in JSON.parse(post.body)));
  await eventually(() => isWithout("/own") && isWithout("/plain"));
  // Events get their place in this list after they were found, independently of their webhooks.
  const read = await eventually(async () => {
    const { events } = (await organization.sandbox.get("/v1/events?after=start&limit=100")).body;
    const ids = new Set(events.map(({ external_id }: { external_id?: string }) => external_id));
    return ids.size >= 3 && ids;
  });
  expect(read).toEqual(new Set(["OWN-1", "ENTITY-1", undefined]));
});
