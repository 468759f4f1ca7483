import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createLeases, type Leases, shardOf } from "@vvs/outbox";
import { hookedDb, skippedEntries } from "@vvs/testing";
import type { Db } from "mongodb";
import type { EventDocument } from "../model/monitor.ts";
import { createTestDomain, SECOND, type TestDomain } from "../testing/domain.ts";
import { createEventSequencer, UNNUMBERED } from "./event-sequencer.ts";

// Each test has its own domain, so that no other test takes the leases of its shards.
let domain: TestDomain;
let tenant: { organizationId: string; environment: "sandbox" };
beforeEach(async () => {
  domain = await createTestDomain();
  tenant = { organizationId: newId("org"), environment: "sandbox" };
});

const leasesOf = (owner: string, leaseMs = 60 * SECOND) =>
  createLeases({ db: domain.db, name: "event_sequencer", owner, leaseMs });
const sequencerOf = (leases: Pick<Leases, "held" | "touch" | "settling">, db: Db = domain.db) =>
  createEventSequencer({ db, client: domain.client, leases });

async function runningSequencer() {
  const leases = leasesOf("one");
  await leases.renew();
  return sequencerOf(leases);
}

function someEvent(name: string, change: Partial<EventDocument> = {}): EventDocument {
  return {
    _id: `evt_${name}`,
    organization_id: tenant.organizationId,
    monitor_id: newId("mon"),
    entity_id: newId("ent"),
    run_seq: 1,
    verification_id: newId("ver"),
    changes: [],
    created_at: domain.clock.at,
    recorded_at: domain.clock.at,
    ...change,
  };
}
const shards = () => domain.db.collection("event_sequencer_shards");
const record = (name: string, change?: Partial<EventDocument>) => domain.events.insertOne(someEvent(name, change));

async function read(after?: number, limit = 100) {
  const { events, position } = await domain.reader.after(tenant, after, limit);
  return { names: events.map(({ _id }) => _id.slice("evt_".length)), position };
}

describe("a forward reader", () => {
  test("sees an event that was detected earlier and recorded later after its cursor", async () => {
    const sequencer = await runningSequencer();
    const early = new Date(domain.clock.at.getTime() - 60 * SECOND);
    await record("detected-late");
    await sequencer.run();
    const first = await read();
    await record("detected-early", { created_at: early });
    await sequencer.run();
    expect(first.names).toEqual(["detected-late"]);
    expect((await read(first.position)).names).toEqual(["detected-early"]);
  });

  test("sees its events even while another transaction holds those of another organization", async () => {
    const sequencer = await runningSequencer();
    let held = newId("org");
    while (shardOf(held) === shardOf(tenant.organizationId)) held = newId("org");
    await record("held", { organization_id: held });
    await record("free");
    await domain.client.withSession(async (killed) => {
      killed.startTransaction();
      await domain.events.updateOne({ _id: "evt_held" }, { $set: { run_seq: 2 } }, { session: killed });
      await sequencer.run();
      expect((await read()).names).toEqual(["free"]);
      await killed.abortTransaction();
    });
    await sequencer.run();
    expect(await domain.events.countDocuments({ _id: /^evt_/, position: { $exists: false } })).toBe(0);
  });

  test("sees an event whose transaction began first and committed last after its cursor", async () => {
    const sequencer = await runningSequencer();
    const session = domain.client.startSession();
    session.startTransaction();
    await domain.events.insertOne(someEvent("slow"), { session });
    domain.pass(1);
    await record("quick");
    await sequencer.run();
    const first = await read();
    await session.commitTransaction();
    await session.endSession();
    expect((await read(first.position)).names).toEqual([]);
    await sequencer.run();
    expect(first.names).toEqual(["quick"]);
    expect((await read(first.position)).names).toEqual(["slow"]);
  });

  test("sees no event before it has its number, and then each once, page by page", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) {
      domain.pass(1);
      await record(name, { recorded_at: domain.clock.at });
    }
    expect(await read()).toEqual({ names: [], position: 0 });
    await (await runningSequencer()).run();
    const pages: string[][] = [];
    for (let at: number | undefined, page = await read(at, 2); page.names.length > 0; page = await read(at, 2)) {
      pages.push(page.names);
      at = page.position;
    }
    expect(pages).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  test("that begins at the end sees what is numbered later, and nothing earlier", async () => {
    const sequencer = await runningSequencer();
    expect(await domain.reader.end(tenant)).toBe(0);
    await record("earlier");
    await record("strange", { organization_id: newId("org") });
    await sequencer.run();
    const end = await domain.reader.end(tenant);
    expect(await read(end)).toEqual({ names: [], position: 1 });
    await record("later");
    await sequencer.run();
    expect((await read(end)).names).toEqual(["later"]);
  });

  test("sees its own organization only", async () => {
    await record("own");
    await record("strange", { organization_id: newId("org") });
    await (await runningSequencer()).run();
    expect(await read()).toEqual({ names: ["own"], position: 1 });
  });

  test("is refused a cursor before the oldest stored event, and one that was never assigned", async () => {
    for (const name of ["a", "b", "c"]) await record(name);
    await (await runningSequencer()).run();
    await domain.events.deleteMany({ position: { $in: [1, 2] } });
    const expired = { code: "cursor_expired" };
    await expect(read(0)).rejects.toMatchObject(expired);
    await expect(read(1)).rejects.toMatchObject(expired);
    await expect(read(4)).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "after" }] });
    expect(await read(2)).toEqual({ names: ["c"], position: 3 });
    expect(await read()).toEqual({ names: ["c"], position: 3 });
    await domain.events.deleteMany({});
    await expect(read(2)).rejects.toMatchObject(expired);
    expect(await read()).toEqual({ names: [], position: 3 });
    expect(await read(3)).toEqual({ names: [], position: 3 });
  });
});

describe("two sequencers", () => {
  test("number each event once: one that resumes after it lost its lease numbers nothing", async () => {
    await record("a");
    const [paused, heir] = [leasesOf("paused"), leasesOf("heir")];
    await paused.renew();
    const held = [...paused.held()];
    const awake = Promise.withResolvers<void>();
    const sleeping = sequencerOf({
      ...paused,
      held: () => held,
      touch: async (session, shard) => {
        await awake.promise;
        return paused.touch(session, shard);
      },
    }).run();
    await shards().updateMany({}, { $set: { until: new Date(0) } });
    await domain.db.collection("event_sequencer_relays").deleteMany({});
    await heir.renew();
    expect(heir.held()).toHaveLength(held.length);
    await sequencerOf(heir).run();
    await record("b");
    awake.resolve();
    await sleeping;
    expect(await read()).toEqual({ names: ["a"], position: 1 });
    await sequencerOf(heir).run();
    expect(await read()).toEqual({ names: ["a", "b"], position: 2 });
  });

  test("never work on a shard at the same time: it is taken over only after the current transaction", async () => {
    await record("a");
    const slow = leasesOf("slow");
    await slow.renew();
    const touched = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const numbering = sequencerOf({
      ...slow,
      touch: async (session, shard) => {
        const isMine = await slow.touch(session, shard);
        touched.resolve();
        await goOn.promise;
        return isMine;
      },
    }).run();
    await touched.promise;
    const isTaken = shards().updateOne(
      { _id: shardOf(tenant.organizationId) as never },
      { $set: { owner: "heir", until: new Date(0) } },
    );
    const seenByHeir = isTaken.then(() => read());
    expect(await read()).toEqual({ names: [], position: 0 });
    goOn.resolve();
    await numbering;
    expect(await seenByHeir).toEqual({ names: ["a"], position: 1 });
  });

  test("leave no gap and no duplicate number after a crash", async () => {
    await record("a");
    const leases = leasesOf("one");
    await leases.renew();
    const crashing = hookedDb(domain.db, "monitor_events", "bulkWrite", () => {
      throw new Error("crashed");
    });
    await expect(sequencerOf(leases, crashing).run()).rejects.toThrow("crashed");
    expect(await read()).toEqual({ names: [], position: 0 });
    await record("b");
    await sequencerOf(leases).run();
    expect(await read()).toEqual({ names: ["a", "b"], position: 2 });
  });
});

test("numbering an event does not walk over the events that were numbered before", async () => {
  const [numbered, rounds] = [400, 20];
  const aMinuteAgo = new Date(domain.clock.at.getTime() - 60 * SECOND);
  const before = Array.from({ length: numbered }, (_, index) => someEvent(`${index}`, { recorded_at: aMinuteAgo }));
  await domain.events.insertMany(before.map((event) => ({ ...event, organization_id: newId("org") })));
  const sequencer = await runningSequencer();
  await sequencer.run();
  await record("first");
  await sequencer.run();
  const skipped = await skippedEntries(domain.events);
  for (let round = 0; round < rounds; round++) {
    await record(`later${round}`);
    await sequencer.run();
  }
  // At most one of five searches is one of all events.
  expect((await skippedEntries(domain.events)) - skipped).toBeLessThan((rounds * numbered) / 5);
  expect((await read()).names).toHaveLength(1 + rounds);
});

test("events without a number are found through an index that holds only them and its end", async () => {
  const unnumbered = async () => {
    const found = await domain.events.find().hint(UNNUMBERED.name).toArray();
    return found.map(({ _id }) => _id);
  };
  await record("a");
  expect(await unnumbered()).toEqual(["evt_a", "end"]);
  await (await runningSequencer()).run();
  expect(await unnumbered()).toEqual(["end"]);
});
