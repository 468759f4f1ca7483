import { expect } from "@jest/globals";
import { atEnd } from "@vvs/testing";
import { type Answer, type Api, whenAdmitted } from "./api.ts";
import { createOrganization } from "./organization.ts";
import { startSubscriber } from "./subscriber.ts";

/** Monitors a vendor of the sandbox hourly, which changes at each run, with fields that differ; returns the monitor. */
export async function monitorChanging(sandbox: Api, more: object = {}): Promise<Answer["body"]> {
  const { body: vendor } = await sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  const monitor = { entity_id: vendor.id, checks: ["sam_registration"], frequency: "hourly" };
  const { status, body } = await whenAdmitted(() => sandbox.post("/v1/monitors", { ...monitor, ...more }));
  expect(status).toBe(201);
  return body;
}

/**
 * Returns an organization for the tests of a file, with a vendor of the sandbox that changes at each run, and a subscriber.
 * At the end its monitors are canceled.
 */
export async function watchingOrganization(answer?: Parameters<typeof startSubscriber>[0]) {
  const [organization, subscriber] = await Promise.all([createOrganization(), startSubscriber(answer)]);
  const { sandbox } = organization;
  const { body: vendor } = await sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  const changing: string = vendor.id;
  atEnd(async () => {
    const { monitors } = (await sandbox.get("/v1/monitors?limit=100")).body;
    await Promise.all(monitors.map(({ id }: { id: string }) => sandbox.delete(`/v1/monitors/${id}`)));
  });
  return {
    organization,
    subscriber,
    changing,
    /** Monitors the vendor hourly, with this path of the subscriber; returns the monitor. */
    watch: (path: string, more: object = {}) =>
      monitorChanging(sandbox, { webhook_url: new URL(path, subscriber.url).href, ...more }),
    monitorOf: async (id: string): Promise<Answer["body"]> => (await sandbox.get(`/v1/monitors/${id}`)).body,
    /** Returns the events of a monitor, newest first. */
    eventsOf: async (id: string): Promise<Answer["body"]> =>
      (await whenAdmitted(() => sandbox.get(`/v1/monitors/${id}/events?limit=100`))).body.events,
    postsTo: (path: string) => subscriber.received.filter((received) => received.path === path),
    postTo: (path: string) => subscriber.waitForPost((received) => received.path === path),
  };
}
