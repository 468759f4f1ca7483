import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { whenAdmitted } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

let organization: TestOrganization;
let changing: string;
let subscriber: Subscriber;

beforeAll(async () => {
  organization = await createOrganization();
  const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  changing = body.id;
  subscriber = await startSubscriber();
});

afterAll(async () => {
  subscriber.close();
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  await Promise.all(monitors.map(({ id }: { id: string }) => organization.sandbox.delete(`/v1/monitors/${id}`)));
});

async function watch(path: string, more: object = {}) {
  const monitor = {
    entity_id: changing,
    checks: ["sam_registration"],
    frequency: "hourly",
    webhook_url: new URL(path, subscriber.url).href,
    ...more,
  };
  const { status, body } = await whenAdmitted(() => organization.sandbox.post("/v1/monitors", monitor));
  expect(status).toBe(201);
  return body;
}

const monitorOf = async (id: string) => (await organization.sandbox.get(`/v1/monitors/${id}`)).body;
const eventsOf = async (id: string) =>
  (await whenAdmitted(() => organization.sandbox.get(`/v1/monitors/${id}/events?limit=100`))).body.events;
const postsTo = (path: string) => subscriber.received.filter((received) => received.path === path);

test.concurrent("a new URL and frequency keep the baseline", async () => {
  // No second run before the change below.
  const { id } = await watch("/before", { frequency: "weekly" });
  await eventually(async () => (await monitorOf(id)).last_run);
  const webhook_url = new URL("/after", subscriber.url).href;
  await organization.sandbox.patch(`/v1/monitors/${id}`, { webhook_url, frequency: "hourly" });
  const post = await subscriber.waitForPost(({ path }) => path === "/after");
  expect(JSON.parse(post.body).changes).toContainEqual(
    expect.objectContaining({ field: "sam_registration.registration_status", previous: "active", current: "expired" }),
  );
  expect(postsTo("/before")).toEqual([]);
});

test.concurrent("another TIN is in the event beside what followed, and an error in one check changes nothing", async () => {
  const { id } = await watch("/inputs", { checks: ["tin_match", "sam_registration"] });
  const runWith = async (lastDigit: number, status: string) => {
    const tin = `9${String(randomInt(1e7)).padStart(7, "0")}${lastDigit}`;
    const verified = await organization.sandbox.post("/v1/verify", {
      identifiers: { uei: "SANDBXCHNGE1", tin },
      legal_name: "Sandbox Changing Status Inc",
      checks: ["tin_match"],
      mode: "realtime",
    });
    expect(verified.body.results[0].status).toBe(status);
    await eventually(async () => {
      const { last_run: run } = await monitorOf(id);
      if (!run || run.at <= verified.body.created_at) return false;
      const { results } = (await organization.sandbox.get(`/v1/verifications/${run.verification_id}`)).body;
      return results.find(({ check_type }: { check_type: string }) => check_type === "tin_match").status === status;
    });
    return `****${tin.slice(-4)}`;
  };
  const failing = await runWith(2, "fail");
  await runWith(1, "error");
  const matching = await runWith(6, "pass");
  const changes = await eventually(async () => {
    const found = (await eventsOf(id)).flatMap(({ changes }: { changes: { field: string }[] }) => changes);
    return found.some(({ field }: { field: string }) => field.startsWith("tin_match")) && found;
  });
  expect(changes.map(({ field }: { field: string }) => field)).toContain("sam_registration.status");
  expect(changes.filter(({ field }: { field: string }) => field.startsWith("tin_match"))).toMatchObject([
    { field: "tin_match.status", previous: "fail", current: "pass" },
    { field: "tin_match.reason", previous: "not_issued", current: "" },
    { field: "tin_match.tin", previous: failing, current: matching },
  ]);
});

test.concurrent("a monitor canceled when its run is due sends only the events that are in its history at that moment", async () => {
  const witness = await watch("/witness");
  const canceledWhenDue = async (path: string) => {
    const { id, next_run_at } = await watch(path);
    await pause(Date.parse(next_run_at) - Date.now() + randomInt(-50, 700));
    const { body } = await whenAdmitted(() => organization.sandbox.delete(`/v1/monitors/${id}`));
    expect(body.status).toBe("canceled");
    return { id, path, events: await eventsOf(id) };
  };
  const canceled: Awaited<ReturnType<typeof canceledWhenDue>>[] = [];
  // Ten at a time: creations of a larger burst wait for each other, up to their limit on a busy machine.
  for (let first = 0; first < 30; first += 10) {
    const ten = Array.from({ length: 10 }, (_, index) => canceledWhenDue(`/canceled/${first + index}`));
    canceled.push(...(await Promise.all(ten)));
  }
  const before = postsTo("/witness").length;
  await eventually(() => postsTo("/witness").length >= before + 2);
  for (const { id, path, events } of canceled) {
    expect(await eventsOf(id)).toEqual(events);
    const ids = new Set(events.map((event: { id: string }) => event.id));
    const sent = () => new Set(postsTo(path).map(({ headers }) => headers["webhook-id"]));
    await eventually(() => sent().size >= ids.size);
    expect(sent()).toEqual(ids);
  }
  await organization.sandbox.delete(`/v1/monitors/${witness.id}`);
});
