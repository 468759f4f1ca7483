import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { deliveryTest } from "../testing/delivery-test.ts";
import { changeEvent } from "../testing/replica.ts";

const { store, subscriber, replica, delivered } = await deliveryTest();

/** Starts a subscriber that never answers except on /well, and a replica with 8 slots for each host. */
async function start() {
  const played = await subscriber((post, response) => {
    if (post.path === "/well") response.end();
  });
  const { take } = replica({
    pools: {
      fast: { slots: 64, slotsPerOrganization: 64 },
      slow: { slots: 64, slotsPerOrganization: 64 },
      perHost: { slots: 8, slotsPerOrganization: 4 },
    },
    // An attempt that ended during the test would make room for another one.
    timeoutMs: 120_000,
  });
  return { ...played, take };
}

test("many organizations together have a limited number of attempts in flight to one host, and leave the slots to others", async () => {
  const { url, posts, take } = await start();
  const victim = (organization: number) =>
    Array.from({ length: 20 }, (_, path) =>
      changeEvent(url(`/victim/${path}`), { organizationId: `org_${organization}` }),
    );
  await take(...Array.from({ length: 20 }, (_, organization) => victim(organization)).flat());
  // The same server by another name is another host.
  const elsewhere = url("/well").replace("127.0.0.1", "localhost");
  await take(changeEvent(elsewhere, { organizationId: "org_0" }));
  await delivered(1);
  // Held deliveries that are urgent now fill neither the slots nor the queue.
  await store.deliveries.updateMany({ held: true }, { $set: { next_attempt_at: new Date(), due_at: new Date(0) } });
  await take(changeEvent(elsewhere, { organizationId: "org_new" }));
  await delivered(2);
  expect(posts.filter(({ path }) => path.startsWith("/victim"))).toHaveLength(8);
});

test("one organization uses at most half of a host's slots", async () => {
  const { url, posts, take } = await start();
  await take(...Array.from({ length: 20 }, (_, path) => changeEvent(url(`/hang/${path}`))));
  await eventually(() => posts.length >= 4);
  await take(changeEvent(url("/well"), { organizationId: "org_2" }));
  await delivered(1);
  expect(posts.filter(({ path }) => path.startsWith("/hang"))).toHaveLength(4);
});

test("urgent deliveries that find no slot are due again one after another, so that few are looked at in vain", async () => {
  const { url, posts, take } = await start();
  await take(...Array.from({ length: 600 }, (_, each) => changeEvent(url(`/hang/${each % 20}`))));
  await eventually(() => posts.length >= 4);
  const now = new Date();
  await store.deliveries.updateMany({ held: true }, { $set: { next_attempt_at: now, due_at: new Date(0) } });
  await eventually(async () => (await store.deliveries.countDocuments({ held: true, next_attempt_at: now })) === 0);
  const held = await store.deliveries.find({ held: true }).sort({ next_attempt_at: 1 }).toArray();
  const times = held.map((each) => each.next_attempt_at!.getTime());
  expect(times.length).toBeGreaterThan(200);
  expect(Math.min(...times.slice(1).map((time, index) => time - times[index]!))).toBeGreaterThanOrEqual(10);
});
