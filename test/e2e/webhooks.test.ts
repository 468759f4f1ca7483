import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { isSignedWith } from "../support/signed-with.ts";
import { type Received, type Subscriber, startSubscriber } from "../support/subscriber.ts";

let organization: TestOrganization;
let changing: string;
/** One server with a path for each behaviour; the paths do not affect each other. */
let subscriber: Subscriber;
/** Ends each attempt to a failing path, with an answer of 500. */
const failing: (() => void)[] = [];

beforeAll(async () => {
  subscriber = await startSubscriber(answer);
  organization = await createOrganization();
  const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  changing = body.id;
});

afterAll(async () => {
  subscriber.close();
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  await Promise.all(monitors.map(({ id }: { id: string }) => organization.sandbox.delete(`/v1/monitors/${id}`)));
});

function answer({ path }: Received, response: ServerResponse): void {
  if (path.startsWith("/failing")) failing.push(() => response.writeHead(500).end());
  else response.end();
}

/** Monitors the changing vendor. Like a client, it tries again where too many creations wait on a slow day. */
async function watch(path: string, owner = organization): Promise<string> {
  const monitor = {
    entity_id: changing,
    checks: ["sam_registration"],
    frequency: "hourly",
    webhook_url: new URL(path, subscriber.url).href,
  };
  return eventually(async () => {
    const { status, body } = await owner.sandbox.post("/v1/monitors", monitor);
    if (status !== 429) expect(status).toBe(201);
    return body.id;
  });
}

const postsTo = (path: string) => subscriber.received.filter((received) => received.path === path);

test.concurrent("a retry goes to the monitor's current URL, and no retry is made once the URL is removed", async () => {
  const [moved, removed] = [await watch("/failing/moved"), await watch("/failing/removed")];
  await eventually(() => failing.length === 2);
  const change = (id: string, webhook_url: string | null) =>
    organization.sandbox.patch(`/v1/monitors/${id}`, { webhook_url });
  expect((await change(removed, null)).status).toBe(200);
  expect((await change(moved, new URL("/moved-here", subscriber.url).href)).status).toBe(200);
  const [before] = postsTo("/failing/moved");
  const id = before!.headers["webhook-id"];
  // The first attempts fail only now, so that no retry of them can come before the changes.
  for (const fail of failing) fail();
  const retry = await eventually(() => postsTo("/moved-here").find(({ headers }) => headers["webhook-id"] === id));
  expect(retry.headers["x-delivery-attempt"]).toBe("2");
  // An event of the second monitor after the removal is in the history but is not sent.
  const eventsOf = async () => (await organization.sandbox.get(`/v1/monitors/${removed}/events`)).body.events;
  const { length: known } = await eventsOf();
  const events = await eventually(async () => {
    const found = await eventsOf();
    return found.length >= known + 2 && found;
  });
  // On a slow machine a second event came before the removal, and had its first attempt.
  const sent = postsTo("/failing/removed").map(({ headers }) => headers);
  expect(sent.filter((headers) => headers["x-delivery-attempt"] !== "1")).toEqual([]);
  expect(sent.map((headers) => headers["webhook-id"])).not.toContain(events[0].id);
});

test.concurrent("after a rotation the previous secret signs along with the new one until it is ended", async () => {
  const own = await createOrganization();
  const { sandbox: first } = own.webhookSecrets;
  const monitor = await watch("/rotated", own);
  const tenant = { organizationId: own.id, environment: "sandbox" } as const;
  const rotate = (endPreviousNow: boolean) =>
    withAccounts(sharedProduct().environment, (accounts) =>
      accounts.webhookSecrets.rotate({ tenant, actor: "test", requestId: "test" }, { endPreviousNow }),
    );
  const { value: second } = await rotate(false);
  const signedBy = (...secrets: string[]) =>
    subscriber.waitForPost(
      (post) =>
        post.path === "/rotated" &&
        String(post.headers["webhook-signature"]).split(" ").length === secrets.length &&
        secrets.every((secret) => isSignedWith(secret, post)),
    );
  const both = await signedBy(first, second);
  expect(String(both.headers["x-service-signature"])).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  const { value: third } = await rotate(true);
  const byThird = await signedBy(third);
  expect([first, second].some((secret) => isSignedWith(secret, byThird))).toBe(false);
  await own.sandbox.delete(`/v1/monitors/${monitor}`);
});
