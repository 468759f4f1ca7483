import { afterAll, beforeAll, expect } from "@jest/globals";
import { type Answer, whenAdmitted } from "./api.ts";
import { createOrganization, type TestOrganization } from "./organization.ts";
import { type Subscriber, startSubscriber } from "./subscriber.ts";

/**
 * Returns an organization for the tests of a file, with a vendor of the sandbox that changes at each run, and a subscriber.
 * At the end its monitors are canceled.
 */
export function watchingOrganization(answer?: Parameters<typeof startSubscriber>[0]) {
  const own = {} as { organization: TestOrganization; subscriber: Subscriber; changing: string };
  beforeAll(async () => {
    const [organization, subscriber] = await Promise.all([createOrganization(), startSubscriber(answer)]);
    const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
    Object.assign(own, { organization, subscriber, changing: body.id });
  });
  afterAll(async () => {
    own.subscriber.close();
    const { sandbox } = own.organization;
    const { monitors } = (await sandbox.get("/v1/monitors?limit=100")).body;
    await Promise.all(monitors.map(({ id }: { id: string }) => sandbox.delete(`/v1/monitors/${id}`)));
  });
  return Object.assign(own, {
    /** Monitors the vendor hourly, with this path of the subscriber; returns the monitor. */
    async watch(path: string, more: object = {}): Promise<Answer["body"]> {
      const monitor = { entity_id: own.changing, checks: ["sam_registration"], frequency: "hourly" };
      const webhook_url = new URL(path, own.subscriber.url).href;
      const { status, body } = await whenAdmitted(() =>
        own.organization.sandbox.post("/v1/monitors", { ...monitor, webhook_url, ...more }),
      );
      expect(status).toBe(201);
      return body;
    },
    monitorOf: async (id: string): Promise<Answer["body"]> =>
      (await own.organization.sandbox.get(`/v1/monitors/${id}`)).body,
    /** Returns the events of a monitor, newest first. */
    eventsOf: async (id: string): Promise<Answer["body"]> =>
      (await whenAdmitted(() => own.organization.sandbox.get(`/v1/monitors/${id}/events?limit=100`))).body.events,
    postsTo: (path: string) => own.subscriber.received.filter((received) => received.path === path),
    postTo: (path: string) => own.subscriber.waitForPost((received) => received.path === path),
  });
}
