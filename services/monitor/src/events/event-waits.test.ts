import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { eventually, hookedDb, silentLogger as logger } from "@vvs/testing";
import type { Db } from "mongodb";
import { createTestDomain, SECOND, type TestDomain } from "../testing/domain.ts";
import { createEventWaits, MAX_WAITING_CALLS } from "./event-waits.ts";

let domain: TestDomain;
let tenant: { organizationId: string; environment: "sandbox" };
beforeEach(async () => {
  domain = await createTestDomain();
  tenant = { organizationId: newId("org"), environment: "sandbox" };
});

const forever = { ms: 60 * SECOND };
const replica = (db: Db = domain.db) => createEventWaits({ db, pollMs: 20, logger });
const placesInUse = async () => (await domain.eventWaits.findOne({ _id: tenant.organizationId }))?.places.length ?? 0;
const number = (last: number) =>
  domain.eventPositions.updateOne({ _id: tenant.organizationId }, { $set: { last } }, { upsert: true });

test("a call waits until there is an event after its position, and frees its place", async () => {
  const { signal } = new AbortController();
  await number(3);
  let ended = false;
  const waiting = replica()
    .untilAfter(tenant, 3, { ...forever, signal })
    .then(() => {
      ended = true;
    });
  await eventually(async () => (await placesInUse()) === 1);
  expect(ended).toBe(false);
  await number(4);
  await waiting;
  expect(await placesInUse()).toBe(0);
});

test("a call whose event is already numbered returns immediately", async () => {
  await number(4);
  await replica().untilAfter(tenant, 3, { ...forever, signal: new AbortController().signal });
});

test("the number of waiting calls of an organization is limited over all replicas, and a call that hangs up frees its place", async () => {
  const replicas = [replica(), replica()];
  const hangUps = Array.from({ length: MAX_WAITING_CALLS }, () => new AbortController());
  const waiting = hangUps.map(({ signal }, index) =>
    replicas[index % 2]!.untilAfter(tenant, 0, { ...forever, signal }),
  );
  await eventually(async () => (await placesInUse()) === MAX_WAITING_CALLS);
  const { signal } = new AbortController();
  for (const each of replicas) {
    await expect(each.untilAfter(tenant, 0, { ...forever, signal })).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: expect.any(Number),
    });
  }
  const other = { ...tenant, organizationId: newId("org") };
  await expect(replicas[0]!.untilAfter(other, 0, { ms: 1, signal })).resolves.toBeUndefined();
  hangUps[0]!.abort();
  await waiting[0];
  const next = replicas[1]!.untilAfter(tenant, 0, { ...forever, signal });
  await eventually(async () => (await placesInUse()) === MAX_WAITING_CALLS);
  await number(1);
  await Promise.all([...waiting, next]);
  expect(await placesInUse()).toBe(0);
});

test("the places of a crashed process become free when their time is up", async () => {
  const places = Array.from({ length: MAX_WAITING_CALLS }, (_, index) => ({ id: String(index), until: new Date(0) }));
  await domain.eventWaits.insertOne({ _id: tenant.organizationId, places });
  await number(1);
  await replica().untilAfter(tenant, 0, { ...forever, signal: new AbortController().signal });
});

test("one read serves all waiting calls of a process, and without waiting calls there are no reads", async () => {
  let reads = 0;
  const counting = hookedDb(domain.db, "event_positions", "find", () => {
    reads++;
  });
  const waits = createEventWaits({ db: counting, pollMs: 50, logger });
  expect(reads).toBe(0);
  const startedAt = performance.now();
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: MAX_WAITING_CALLS }, () => waits.untilAfter(tenant, 0, { ms: 500, signal })));
  expect(reads).toBeLessThanOrEqual(Math.ceil((performance.now() - startedAt) / 50) + 1);
});
