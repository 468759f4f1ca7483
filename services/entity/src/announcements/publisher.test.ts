import { beforeEach, describe, expect, test } from "@jest/globals";
import { LoadStep } from "@vvs/proto/events/v1/events";
import { findLoad } from "../registry-load/change-log.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createLoads, killedAt, type LoadOverrides, pausingCommit, pausingTransaction } from "../testing/loads.ts";
import { holdPublisher, publishAll, publisherOf, publishSteps, TOPIC, takeRecords } from "../testing/publishing.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(async () => {
  await loads.clear();
  await app.databases.live.collection("idempotency_keys").deleteMany({});
  await takeRecords(app);
});

const caller = callerFor("org_load");
const ueiOf = (index: number) => `ABCDEFGHJK${50 + index}`;
const [same, changed, moved, lost, added, excluded, cleared] = Array.from({ length: 7 }, (_, index) => ueiOf(index));

/** Returns the ids of all entities with these UEIs, of the registry and of organizations, sorted. */
async function idsOf(...ueis: (string | undefined)[]) {
  const found = await app.live.entities.find({ "identifiers.uei": { $in: ueis as string[] } }).toArray();
  return found.map(({ _id }) => _id).sort();
}
const sorted = (records: { entityIds: string[] }[]) => records.flatMap(({ entityIds }) => entityIds).sort();
const urgentOf = (records: { urgentEntityIds: string[] }[]) => records.flatMap((each) => each.urgentEntityIds).sort();
const createOwn = (uei: string | undefined, organization = "org_load") =>
  app.gateway.createEntity({ caller: callerFor(organization), legalName: `Own ${uei}`, identifiers: { uei: uei! } });
const loadsOf = {
  registry: {
    first: () => loads.load([{ 1: same! }, { 1: changed! }, { 1: moved! }, { 1: lost! }, { 1: cleared!, 116: "D" }]),
    second: (options: LoadOverrides = {}) =>
      loads.load(
        [
          ...[{ 1: same! }, { 1: changed!, 9: "20300101" }, { 1: moved!, 16: "1 ELM ST" }, { 1: added! }],
          ...[{ 1: excluded!, 116: "D" }, { 1: cleared! }, { 1: "x" }],
        ],
        { day: "13", ...options },
      ),
    third: () => loads.load([{ 1: same! }, { 1: changed!, 9: "20300101" }, { 1: added! }], { day: "20" }),
    changes: () => idsOf(changed, lost, cleared),
    urgent: () => idsOf(cleared),
  },
  exclusions: {
    first: async () => {
      await loads.load([same, changed, excluded, cleared].map((uei) => ({ 1: uei! })));
      await loads.exclude([{ uei: changed }, { uei: same }, { uei: cleared, until: "2030-01-01" }]);
    },
    second: (options: LoadOverrides = {}) =>
      loads.exclude([{ uei: changed, until: "2031-01-01" }, { uei: same }, { uei: excluded }], "2026-02-10", options),
    third: () => loads.exclude([{ uei: same }, { uei: excluded }, { uei: changed, until: "2031-01-01" }], "2026-02-20"),
    changes: () => idsOf(changed, excluded, cleared),
    urgent: () => idsOf(excluded, cleared),
  },
};
type Kind = keyof typeof loadsOf;
const kinds = Object.keys(loadsOf) as Kind[];

async function prepare(kind: Kind) {
  await loads.clear();
  await loadsOf[kind].first();
  await publishAll(app);
}

test("a first load, which only adds entities, publishes nothing", async () => {
  await loadsOf.registry.first();
  expect(await publishAll(app)).toEqual([]);
  expect(await app.live.announcements.countDocuments()).toBe(0);
});

test("a load publishes what monitors watch, and nothing that is new, the same or only has another address", async () => {
  await prepare("registry");
  const { loadId } = await loadsOf.registry.second();
  const records = await publishAll(app);
  expect(records).toMatchObject([{ topic: TOPIC, key: loadId, loadId, urgentEntityIds: await idsOf(cleared) }]);
  expect(sorted(records)).toEqual(await idsOf(changed, lost, cleared));
  expect(await publishAll(app)).toEqual([]);
});

test("an entity that a file lists again unchanged is published with the own entities that took it over", async () => {
  await createOwn(lost);
  await loads.load([{ 1: same! }, { 1: lost! }]);
  await publishAll(app);
  await loads.load([{ 1: same! }], { day: "13" });
  const gone = await publishAll(app);
  await loads.load([{ 1: same! }, { 1: lost! }], { day: "20" });
  const listed = await publishAll(app);
  for (const records of [gone, listed]) {
    expect(sorted(records)).toEqual(await idsOf(lost));
    expect(sorted(records)).toHaveLength(2);
  }
});

test("own entities that take over what a load adds are published, the added entity is not", async () => {
  const { entity } = await createOwn(added);
  await loads.load([{ 1: added! }]);
  expect(sorted(await publishAll(app))).toEqual([entity!.id]);
});

test("own entities are published with the registry entity whose exclusions changed, also where they lack its CAGE", async () => {
  await app.gateway.createEntity({ caller, legalName: "Has the CAGE", identifiers: { cage: "5ABC1" } });
  const { entity } = await createOwn(excluded);
  await loads.load([{ 1: excluded!, 4: "5ABC1" }]);
  await publishAll(app);
  expect((await app.live.entities.findOne({ _id: entity!.id }))?.identifiers.cage).toBeUndefined();
  await loads.exclude([{ cage: "5ABC1" }]);
  const records = await publishAll(app);
  expect(sorted(records)).toContain(entity!.id);
  expect(urgentOf(records)).toContain(entity!.id);
});

test("an entity is published with a row of a CAGE that it carried in an earlier file", async () => {
  await loads.load([{ 1: excluded!, 4: "5ABC1" }]);
  await loads.load([{ 1: excluded!, 4: "" }], { day: "13" });
  await publishAll(app);
  for (const [day, rows] of [
    ["2026-09-14", [{ cage: "5ABC1" }]] as const,
    ["2026-09-15", [{ cage: "5ABC9" }]] as const,
  ]) {
    await loads.exclude(rows, day);
    expect(urgentOf(await publishAll(app))).toEqual(await idsOf(excluded));
  }
});

test("an entity is published with a row of a CAGE that only an organization supplied, until it is withdrawn", async () => {
  await loads.load([{ 1: excluded!, 4: "" }]);
  await loads.exclude([{ cage: "5ABC9" }]);
  const [entityId] = await idsOf(excluded);
  await app.live.remembered.insertOne({
    ...{ _id: "rem_1", organization_id: "org_load", entity_id: entityId!, type: "cage", value: "5ABC1" },
  });
  await publishAll(app);
  const { loadId } = await loads.exclude([{ cage: "5ABC9" }, { cage: "5ABC1" }], "2026-02-10");
  expect(urgentOf(await publishAll(app))).toEqual([entityId]);
  await loads.exclude([{ cage: "5ABC9" }, { cage: "5ABC1" }], "2026-02-10");
  expect(await publishAll(app)).toEqual([]);
  await loads.withdraw(loadId);
  expect(sorted(await publishAll(app))).toEqual([entityId]);
  await loads.exclude([{ cage: "5ABC1" }], "2026-02-11");
  await loads.exclude([{ cage: "5ABC9" }], "2026-02-12");
  expect(urgentOf(await publishAll(app))).toEqual([entityId, entityId]);
  await app.live.remembered.deleteMany({});
});

test("an entity whose flag stands is published when the file's row is gone, and when its row limits only products", async () => {
  await loads.load([
    { 1: excluded!, 116: "D" },
    { 1: cleared!, 116: "D" },
  ]);
  await loads.exclude([{ uei: excluded }, { uei: cleared }], "2026-09-07");
  await publishAll(app);
  const comment = "Section 889. The entity is not itself excluded.";
  await loads.exclude([{ uei: cleared, comment }], "2026-09-08");
  expect(urgentOf(await publishAll(app))).toEqual(await idsOf(excluded, cleared));
});

test("entities whose flag a withdrawn file explained, or ended, are published, and shown as before that file", async () => {
  await loads.load([excluded, cleared].map((uei) => ({ 1: uei!, 116: "D" })));
  await loads.exclude([{ uei: cleared }], "2026-09-07");
  const shown = () => app.live.entities.find({}, { projection: { exclusions: 1, flag_ended: 1 } }).toArray();
  const before = await shown();
  const comment = "Section 889. The entity is not itself excluded.";
  const { loadId } = await loads.exclude([{ uei: excluded, comment }], "2026-09-08");
  await publishAll(app);
  await loads.withdraw(loadId);
  expect(urgentOf(await publishAll(app))).toEqual(await idsOf(excluded, cleared));
  expect(await shown()).toEqual(before);
});

test("own entities that no registry has are published with their exclusions", async () => {
  const { entity } = await createOwn(excluded);
  await loads.exclude([{ uei: excluded }]);
  expect(urgentOf(await publishAll(app))).toEqual([entity!.id]);
});

test("more than 500 entities, also of one page, are published in several records with ids of their own", async () => {
  const rows = Array.from({ length: 1_200 }, (_, index) => ({ 1: `MANYROWS${1_000 + index}`, 4: "" }));
  await loads.load([...rows, { 1: same! }]);
  await loads.load([{ 1: same! }], { day: "13", acceptFewer: true });
  const records = await publishAll(app);
  expect(sorted(records)).toEqual(await idsOf(...rows.map((row) => row[1])));
  expect(records.map(({ entityIds }) => entityIds.length)).toEqual([500, 500, 200]);
  expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(3);
});

test("newly excluded entities come first in a record, then those that are excluded no longer", async () => {
  await prepare("exclusions");
  await loadsOf.exclusions.second();
  const [record] = await publishAll(app);
  expect(record!.entityIds).toEqual((await Promise.all([idsOf(excluded), idsOf(cleared), idsOf(changed)])).flat());
});

test("newly excluded entities come first in a load whose changes need several records", async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `MANYROWS${1_000 + index}`);
  await loads.load([...many.map((uei) => ({ 1: uei, 4: "" })), { 1: excluded! }]);
  await publishAll(app);
  const renewed = many.map((uei) => ({ 1: uei, 4: "", 9: "20300101" }));
  await loads.load([...renewed, { 1: excluded!, 116: "D" }], { day: "13" });
  const records = await publishAll(app);
  const [urgent] = await idsOf(excluded);
  expect(records.map(({ urgentEntityIds }) => urgentEntityIds)).toEqual([[urgent], [], []]);
  expect(records[0]!.entityIds[0]).toBe(urgent);
  expect(sorted(records)).toEqual(await idsOf(...many, excluded));
});

describe.each(kinds)("a load of the kind %s", (kind) => {
  const { second, third, changes, urgent } = loadsOf[kind];

  test("is published only once it is done, with a time after its commit in all records", async () => {
    await prepare(kind);
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    await second(undisturbed.given);
    await prepare(kind);
    const last = pausingTransaction(app, undisturbed.transactions() - 1);
    const loading = second(last.given);
    await last.beginning;
    expect(await publishAll(app)).toEqual([]);
    last.begin();
    await last.committing;
    const { localTime } = await app.client.db("admin").command({ hello: 1 });
    last.commit();
    await loading;
    const [record, ...others] = await publishAll(app);
    expect(record!.changedAt.getTime()).toBeGreaterThanOrEqual((localTime as Date).getTime());
    for (const { changedAt } of others) expect(changedAt).toEqual(record!.changedAt);
  });

  test("that was loaded again publishes no change", async () => {
    await prepare(kind);
    await second();
    await publishAll(app);
    await second();
    expect(await publishAll(app)).toEqual([]);
  });

  test("ends with a record of its own, after those of its changes, also where it changed nothing", async () => {
    await prepare(kind);
    const { loadId } = await second();
    const steps = async () =>
      (await publishSteps(app)).map(({ step, loadId: of, recordId }) => ({ step, of, recordId }));
    const first = await steps();
    expect(first).toMatchObject([{ step: LoadStep.UNSPECIFIED }, { step: LoadStep.LOADED, of: loadId }]);
    await second();
    const again = await steps();
    expect(again).toMatchObject([{ step: LoadStep.LOADED, of: loadId }]);
    expect(new Set([...first, ...again].map(({ recordId }) => recordId)).size).toBe(3);
    expect(await steps()).toEqual([]);
  });

  test("is announced as withdrawn when that is marked, once, and again when everything is restored", async () => {
    await prepare(kind);
    const { loadId } = await second();
    await publishAll(app);
    const goOn = await killedAt(app, 1, (given) => loads.withdraw(loadId, given));
    expect(await publishSteps(app)).toMatchObject([{ step: LoadStep.WITHDRAWAL_BEGUN, loadId, key: loadId }]);
    await loads.expireLock();
    await loads.withdraw(loadId);
    const records = await publishSteps(app);
    const steps = records.map(({ step }) => step);
    expect([steps[0], ...steps.slice(-2)]).toEqual([0, LoadStep.UNSPECIFIED, LoadStep.WITHDRAWN].map(Number));
    expect(steps).not.toContain(LoadStep.WITHDRAWAL_BEGUN);
    await goOn();
    expect(await publishSteps(app)).toEqual([]);
  });

  test("has records of steps that consumers of earlier versions take, and that name no entity", async () => {
    await prepare(kind);
    await second();
    const [step] = (await publishSteps(app)).filter((record) => record.step !== LoadStep.UNSPECIFIED);
    expect(step!.entityIds).toHaveLength(1);
    expect(await app.live.entities.countDocuments({ _id: step!.entityIds[0] })).toBe(0);
    expect([step!.urgentEntityIds, step!.changedAt > new Date(0)]).toEqual([[], true]);
  });

  test.each([
    ["the same file", second],
    ["a newer one", third],
  ])("that was killed at any point is published completely once %s is loaded", async (_, next) => {
    await prepare(kind);
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    await second(undisturbed.given);
    for (let number = 0; number < undisturbed.transactions(); number++) {
      await prepare(kind);
      const goOn = await killedAt(app, number, second);
      expect(await publishAll(app)).toEqual([]);
      await loads.expireLock();
      const { loadId } = await next();
      const records = await publishAll(app);
      expect(sorted(records)).toEqual(expect.arrayContaining(await changes()));
      expect(records.every((record) => record.loadId === loadId)).toBe(true);
      if (next === second) expect([sorted(records), urgentOf(records)]).toEqual([await changes(), await urgent()]);
      expect(await goOn()).toMatch(/another load took over/);
      expect(await publishAll(app)).toEqual([]);
    }
  });

  test("that is withdrawn publishes what it had changed or added, even if the withdrawal was killed at any point", async () => {
    await prepare(kind);
    const { loadId } = await second();
    await publishAll(app);
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    await loads.withdraw(loadId, undisturbed.given);
    for (let number = 0; number < undisturbed.transactions(); number++) {
      await prepare(kind);
      await second();
      await publishAll(app);
      const goOn = await killedAt(app, number, (given) => loads.withdraw(loadId, given));
      await loads.expireLock();
      expect(await publishAll(app)).toEqual([]);
      await loads.withdraw(loadId);
      const records = await publishAll(app);
      const ids = new Set([...(await changes()), ...(kind === "registry" ? await idsOf(added, excluded) : [])]);
      expect(sorted(records)).toEqual(expect.arrayContaining([...ids]));
      expect(urgentOf(records)).toEqual(expect.arrayContaining(await idsOf(excluded)));
      expect(records.every((record) => record.loadId === loadId)).toBe(true);
      expect(await goOn()).toMatch(/another load took over/);
      expect((await findLoad(app.live, loadId)).state).toBe("withdrawn");
    }
  });
});

describe("a publisher", () => {
  test("that crashed before or in a commit leaves each change to be published once by the next one", async () => {
    await prepare("registry");
    await loadsOf.registry.second();
    const leases = await holdPublisher(app, "crashed");
    const commit = pausingCommit(app.client);
    const crashed = publisherOf(app, leases, commit.client).run();
    await commit.committing;
    await commit.abort();
    await leases.release();
    const records = await publishAll(app);
    expect(sorted(records)).toEqual(await loadsOf.registry.changes());
    commit.retry();
    await crashed;
    expect(await takeRecords(app)).toEqual([]);
  });

  test("that was paused until another took its lease publishes nothing", async () => {
    await prepare("registry");
    await loadsOf.registry.second();
    const [paused, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = await holdPublisher(app, "paused");
    const stale = publisherOf(app, {
      ...held,
      async touch(session, shard) {
        paused.resolve();
        await awake.promise;
        return held.touch(session, shard);
      },
    });
    const running = stale.run();
    await paused.promise;
    const db = app.databases.live;
    await db.collection("registry_publisher_shards").updateMany({}, { $set: { until: new Date(0) } });
    await db.collection("registry_publisher_relays").deleteMany({});
    const heir = await holdPublisher(app, "heir");
    awake.resolve();
    await running;
    expect(await takeRecords(app)).toEqual([]);
    await publisherOf(app, heir).run();
    expect(sorted(await takeRecords(app))).toEqual(await loadsOf.registry.changes());
    await heir.release();
  });
});
