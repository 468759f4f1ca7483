import { afterEach, expect, test } from "@jest/globals";
import { silentLogger } from "@vvs/testing";
import type { AttemptError } from "../model/delivery.ts";
import { createTestDeliveries } from "../testing/deliveries.ts";
import { newEndpoint } from "./circuit.ts";
import { endpointId } from "./endpoint.ts";
import { createEndpointCache, type EndpointCache } from "./endpoint-cache.ts";
import { createEndpointStore } from "./endpoint-store.ts";
import { createEndpointsView } from "./endpoints-view.ts";

const store = await createTestDeliveries();
const caches: EndpointCache[] = [];
const url = "https://subscriber.example/hook";
const endpoint = { _id: endpointId("org_1", url), organization_id: "org_1", url };

afterEach(async () => {
  for (const each of caches.splice(0)) each.close();
  await store.endpoints.deleteMany({});
});

function cache(now = () => new Date()): EndpointCache {
  const made = createEndpointCache({
    store: createEndpointStore(store),
    logger: silentLogger,
    now,
  });
  caches.push(made);
  return made;
}

function see(one: EndpointCache, count: number, error?: AttemptError): void {
  // Long enough ago that a probe may be made now.
  const at = new Date(Date.now() - 60_000);
  for (let index = 0; index < count; index++)
    one.observe(endpoint, { startedAt: at, endedAt: at, error, probe: false });
}

test("of two writes of one replica with the same revision only one is reported as stored", async () => {
  const { save } = createEndpointStore(store);
  const next = { ...newEndpoint(endpoint, new Date()), rev: 1 };
  const unsaved = await Promise.all([save([next]), save([next])]);
  expect(unsaved.map(({ size }) => size).sort()).toEqual([0, 1]);
});

test("the observations of two replicas add up", async () => {
  const [one, other] = [cache(), cache()];
  see(one, 2, "http_status");
  see(other, 3, "http_status");
  await Promise.all([one.sync(), other.sync()]);
  await Promise.all([one.sync(), other.sync()]);
  expect(await store.endpoints.find().toArray()).toMatchObject([
    { url: endpoint.url, consecutive_failures: 5, circuit: { state: "open" } },
  ]);
  await Promise.all([one.sync(), other.sync()]);
  for (const each of [one, other]) expect(each.get(endpoint).circuit.state).toBe("open");
});

test("a circuit that another replica opened is known after the next sync, and immediately where it was not cached", async () => {
  const [one, other] = [cache(), cache()];
  await other.load([endpoint]);
  see(one, 5, "connection");
  await one.sync();
  await other.sync();
  expect(other.get(endpoint).circuit.state).toBe("open");
  const late = cache();
  await late.load([endpoint]);
  expect(late.get(endpoint)).toMatchObject({ consecutive_failures: 5, last_error: "connection" });
});

test("an endpoint that was not used for days is read again, and stored again if it has expired", async () => {
  let days = 0;
  const one = cache(() => new Date(Date.now() + days * 24 * 60 * 60 * 1000));
  see(one, 5, "connection");
  await one.sync();
  days = 3;
  await one.sync();
  await one.load([endpoint]);
  expect(one.get(endpoint).circuit.state).toBe("open");
  await store.endpoints.deleteMany({});
  days = 6;
  await one.sync();
  see(one, 1);
  await one.sync();
  expect(await store.endpoints.countDocuments({ _id: endpoint._id })).toBe(1);
});

test("a probe belongs to one replica, until its time is over", async () => {
  const [one, other] = [cache(), cache()];
  see(one, 5, "connection");
  await one.sync();
  await other.load([endpoint]);
  const until = new Date(Date.now() + 60_000);
  const claimed = await Promise.all([one.claimProbe(endpoint, until), other.claimProbe(endpoint, until)]);
  expect(claimed.filter(Boolean)).toHaveLength(1);
  expect(await one.claimProbe(endpoint, until)).toBe(false);
  await store.endpoints.updateOne(
    {},
    { $set: { "circuit.probe_at": new Date(0) }, $inc: { rev: 1 }, $currentDate: { updated_at: true } },
  );
  expect(await other.claimProbe(endpoint, until)).toBe(true);
});

test("a dismissal survives the observations of a replica that had not read it", async () => {
  const one = cache();
  see(one, 2, "http_status");
  await one.sync();
  see(one, 1, "http_status");
  await createEndpointsView(store).dismiss({ organizationId: "org_1", environment: "live" }, endpoint.url);
  await one.sync();
  await one.sync();
  expect(await store.endpoints.find().toArray()).toMatchObject([
    { dismissed_at: expect.any(Date), consecutive_failures: 3 },
  ]);
});

test("success is stored once, and then once a minute", async () => {
  const one = cache();
  const at = new Date();
  for (let index = 0; index < 50; index++) one.observe(endpoint, { startedAt: at, endedAt: at, probe: false });
  await one.sync();
  for (let index = 0; index < 50; index++) one.observe(endpoint, { startedAt: at, endedAt: at, probe: false });
  await one.sync();
  expect(await store.endpoints.find().toArray()).toMatchObject([{ rev: 1, last_success_at: at, failing_since: null }]);
});
