import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { Environment } from "@vvs/proto/common/v1/common";
import { eventually, untilEnd } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { whenAdmitted } from "../support/api.ts";
import { openProducer, publishEvents, webhookEvent } from "../support/delivery-stack.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";

const HOUR_MS = 60 * 60_000;
const { environment, prefix } = sharedProduct();
const client = untilEnd(new MongoClient(environment.MONGODB_URI!));
const dispatcher = client.db(`${prefix}webhook_dispatcher_sandbox`);

let attacker: TestOrganization;
let subscriber: Subscriber;
const neighbour = await createNeighbour();
beforeEach(async () => {
  attacker = await createOrganization();
});
afterEach(async () => {
  subscriber.close();
  const { monitors } = (await attacker.sandbox.get("/v1/monitors?limit=100")).body;
  await Promise.all(monitors.map(({ id }: { id: string }) => attacker.sandbox.delete(`/v1/monitors/${id}`)));
});

/** Creates monitors of the attacker whose vendor changes at each run, each with a URL of its own. */
async function watch(count: number, url: (index: number) => string): Promise<void> {
  const { id } = (await attacker.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } })).body;
  const monitor = { entity_id: id, checks: ["sam_registration"], frequency: "daily" };
  for (let index = 0; index < count; index += 10) {
    const create = (_: unknown, at: number) =>
      whenAdmitted(() => attacker.sandbox.post("/v1/monitors", { ...monitor, webhook_url: url(index + at) }));
    const answers = await Promise.all(Array.from({ length: 10 }, create));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
  }
}

/** Requests that changes of the attacker's sandbox monitors are sent, as the monitor service does: faster than they can run. */
async function requestDeliveries(urls: readonly string[]): Promise<void> {
  const events = urls.map((url) =>
    webhookEvent({ organizationId: attacker.id, monitorId: newId("mon"), url, environment: Environment.SANDBOX }),
  );
  const producer = await openProducer(environment.KAFKA_BROKERS!.split(","));
  const sandbox = { prefix: environment.KAFKA_TOPIC_PREFIX!, environment: "sandbox" } as const;
  await publishEvents(producer, sandbox, events).finally(() => producer.disconnect());
}

test(
  "a host that never answers holds at most half of a host's slots for one organization, and others' changes arrive",
  async () => {
    let open = 0;
    let most = 0;
    subscriber = await startSubscriber((_received, response) => {
      most = Math.max(most, ++open);
      response.once("close", () => open--);
    });
    // Another host name than the neighbour's.
    const host = subscriber.url.replace("127.0.0.1", "localhost");
    await requestDeliveries(Array.from({ length: 100 }, (_, index) => `${host}/${index}`));
    const accepted = { organization_id: attacker.id };
    await neighbour.worksDuring(() =>
      eventually(async () => open >= 64 && (await dispatcher.collection("deliveries").countDocuments(accepted)) >= 100),
    );
    expect(most).toBe(64);
  },
  ATTACK_TIMEOUT_MS,
);

test(
  "events of one organization's sandbox beyond the hour's limit are only in the history, and others' changes arrive",
  async () => {
    const [limit, left] = [1_000, 5];
    const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    // As most of an hour's flood leaves it.
    await dispatcher.collection<{ _id: string }>("sandbox_hours").insertMany(
      [thisHour, thisHour + HOUR_MS].map((hour) => ({
        _id: `${attacker.id}:${new Date(hour).toISOString()}`,
        events: limit - left,
        expires_at: new Date(thisHour + 3 * HOUR_MS),
      })),
    );
    subscriber = await startSubscriber();
    await watch(20, (index) => `${subscriber.url}/${index}`);
    const refused = { organization_id: attacker.id, failure: "sandbox_limit" };
    await neighbour.worksDuring(() =>
      eventually(async () => (await dispatcher.collection("deliveries").countDocuments(refused)) >= 20 - left),
    );
    const sent = () => new Set(subscriber.received.map(({ headers }) => headers["webhook-id"])).size;
    await eventually(() => sent() >= left);
    expect(sent()).toBe(left);
    const { events } = (await attacker.sandbox.get("/v1/events?limit=100")).body;
    expect(events.length).toBeGreaterThanOrEqual(20);
  },
  ATTACK_TIMEOUT_MS,
);
