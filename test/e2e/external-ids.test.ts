import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

let organization: TestOrganization;
let other: TestOrganization;
let subscriber: Subscriber;
/** An entity of the sandbox's registry that changes at each run. */
let changing: string;

beforeAll(async () => {
  subscriber = await startSubscriber();
  [organization, other] = await Promise.all([createOrganization(), createOrganization()]);
  changing = await registered("SANDBXCHNGE1");
});
afterAll(async () => {
  subscriber.close();
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  await Promise.all(monitors.map(({ id }: { id: string }) => organization.sandbox.delete(`/v1/monitors/${id}`)));
});

async function registered(uei: string): Promise<string> {
  return (await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei } })).body.id;
}

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join("");
const put = (id: string, external_id: unknown, api = organization.sandbox) =>
  api.request("PUT", `/v1/entities/${id}/external_id`, { body: { external_id } });
const idsIn = async (path: string, api = organization.sandbox) => {
  const { body } = await api.get(path);
  return (body.entities ?? body.monitors).map(({ id }: { id: string }) => id);
};

describe("an entity's external_id", () => {
  test("is set on creation, changed by the same content, and in no snapshot", async () => {
    const content = { legal_name: "Numbered LLC", identifiers: { uei: `ZZ${digits(10)}` } };
    const first = await organization.sandbox.post("/v1/entities", { ...content, external_id: " V-1 " });
    expect([first.status, first.body.external_id]).toEqual([201, "V-1"]);
    const again = await organization.sandbox.post("/v1/entities", { ...content, external_id: "V-2" });
    expect([again.status, again.body]).toEqual([201, { ...first.body, external_id: "V-2" }]);
    const path = `/v1/entities/${first.body.id}`;
    expect((await organization.sandbox.get(path)).body).toEqual(again.body);
    const { snapshots } = (await organization.sandbox.get(`${path}/snapshots`)).body;
    expect([snapshots.length, JSON.stringify(snapshots).includes("V-1")]).toEqual([1, false]);
    expect(await idsIn("/v1/entities?external_id=V-2")).toEqual([first.body.id]);
    expect(await idsIn("/v1/entities?external_id=V-1")).toEqual([]);
  });

  test("of a registry entity is this organization's and this environment's only, and null removes it", async () => {
    const id = await registered("SANDBXACTVE1");
    const set = await put(id, "ACTIVE-1");
    expect([set.status, set.body.id, set.body.external_id]).toEqual([200, id, "ACTIVE-1"]);
    const found = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXACTVE1" } });
    expect(found.body).toEqual(set.body);
    expect((await other.sandbox.get(`/v1/entities/${id}`)).body.external_id).toBeUndefined();
    expect(await idsIn("/v1/entities?external_id=ACTIVE-1")).toEqual([id]);
    expect(await idsIn("/v1/entities?external_id=ACTIVE-1", other.sandbox)).toEqual([]);
    expect(await idsIn("/v1/entities?external_id=ACTIVE-1", organization.live)).toEqual([]);
    expect((await put(id, "X", organization.live)).body.error).toBe("entity_not_found");
    const removed = await put(id, null);
    expect([removed.status, "external_id" in removed.body]).toEqual([200, false]);
    expect(await idsIn("/v1/entities?external_id=ACTIVE-1")).toEqual([]);
  });

  test("is refused if it is the entity's TIN, and so is the TIN if it is the external_id", async () => {
    const tin = `9${digits(8)}`;
    const written = `${tin.slice(0, 2)}-${tin.slice(2)}`;
    const { body: entity } = await organization.sandbox.post("/v1/entities", {
      legal_name: "Tin LLC",
      identifiers: { tin },
    });
    const monitor = { entity_id: entity.id, checks: ["sam_registration"], external_id: tin };
    const together = { legal_name: "Tin LLC", identifiers: { tin }, external_id: tin };
    for (const answer of [
      await put(entity.id, written),
      await organization.sandbox.post("/v1/entities", together),
      await organization.sandbox.post("/v1/monitors", monitor),
    ]) {
      expect([answer.status, answer.body.error, answer.body.details[0].path]).toEqual([
        400,
        "invalid_request",
        "external_id",
      ]);
      expect(JSON.stringify(answer.body)).not.toContain(tin.slice(2));
    }
    const another = `9${digits(8)}`;
    await put(await registered("SANDBXNACTV1"), another);
    const later = await organization.sandbox.post("/v1/verify", {
      identifiers: { uei: "SANDBXNACTV1", tin: another },
      checks: ["sam_registration"],
      mode: "realtime",
    });
    expect([later.status, later.body.error]).toEqual([400, "invalid_request"]);
  });
});

describe("a monitor's external_id", () => {
  test("is shown, filtered by, changed and removed", async () => {
    const entity_id = await registered("SANDBXACTVE1");
    const create = { entity_id, checks: ["sam_registration"], external_id: "M-1" };
    const { body: monitor } = await organization.sandbox.post("/v1/monitors", create);
    expect(monitor.external_id).toBe("M-1");
    expect(await idsIn("/v1/monitors?external_id=M-1")).toEqual([monitor.id]);
    expect(await idsIn("/v1/monitors?external_id=M-1", other.sandbox)).toEqual([]);
    expect(await idsIn(`/v1/monitors?entity_id=${entity_id}&external_id=M-1`)).toEqual([monitor.id]);
    expect(await idsIn(`/v1/monitors?entity_id=${await registered("SANDBXEXPRD1")}`)).toEqual([]);
    expect(await idsIn("/v1/monitors?entity_id=V-1")).toEqual([]);
    const path = `/v1/monitors/${monitor.id}`;
    expect((await organization.sandbox.patch(path, { external_id: "M-2" })).body.external_id).toBe("M-2");
    expect(await idsIn("/v1/monitors?external_id=M-1")).toEqual([]);
    const removed = (await organization.sandbox.patch(path, { external_id: null })).body;
    expect([removed.frequency, "external_id" in removed]).toEqual(["daily", false]);
  });

  test("is in its events and webhooks; without one they have the entity's", async () => {
    await put(changing, "ENTITY-1");
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
    await put(changing, null);
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
});
