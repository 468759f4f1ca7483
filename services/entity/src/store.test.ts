import { expect, test } from "@jest/globals";
import { createEntityStore } from "./store.ts";
import { startTestApplication } from "./testing/application.ts";
import { entityDocument } from "./testing/entity-document.ts";

const app = await startTestApplication();

const NOW = new Date("2026-11-25T12:00:00Z");
const tenant = { organizationId: "org_busy", environment: "live" } as const;

test("own entities that just changed displace no hit of the index, however many they are", async () => {
  const { organizationId: organization_id } = tenant;
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  const hits = numbers.map((index) => `ent_hit${index}`);
  const listed = hits.map((id) => entityDocument({ _id: id, identifiers: { uei: id } }));
  // The organization sees these in place of the hits.
  const own = hits.map((id) =>
    entityDocument({
      ...{ _id: `ent_own_${id}`, organization_id, registry_entity_id: id, own_changed_at: new Date(0) },
    }),
  );
  const changed = Array.from({ length: 400 }, (_, index) =>
    entityDocument({ _id: `ent_${index}`, organization_id, own_changed_at: new Date(NOW.getTime() + index) }),
  );
  // Without indexes MongoDB finds them in this order; with them it may choose any.
  await app.live.entities.dropIndexes();
  await app.live.entities.insertMany([...changed, ...listed, ...own]);
  const store = createEntityStore({ collections: { live: app.live, sandbox: app.live } });
  const found = async (ids: readonly string[]) => (await store.findMatches(tenant, ids, NOW)).map(({ _id }) => _id);
  const all = await found(hits);
  expect(all).toEqual(expect.arrayContaining(own.map(({ _id }) => _id)));
  expect(all.filter((id) => id.includes("hit"))).toHaveLength(own.length);
  // Of the changed ones, the newest.
  expect(all).toHaveLength(own.length + 100);
  expect(all).toContain("ent_399");
  expect((await found(["ent_399"])).filter((id) => id === "ent_399")).toHaveLength(1);
  expect(await found([])).toHaveLength(100);
});
