import { beforeEach, describe, expect, test } from "@jest/globals";
import { eventually, silentLogger as logger, testMongo } from "@vvs/testing";
import { ProviderError } from "../providers/provider.ts";
import { migrateQueue, queueCollections } from "../questions/documents.ts";
import type { Asking } from "../questions/question.ts";
import { registrationPart } from "../testing/parts.ts";
import type { AskVendors } from "./ask-vendors.ts";
import { createAsker } from "./asker.ts";
import { createAsking } from "./asking.ts";
import { createParkedRuns } from "./parked-runs.ts";
import { createQuestions } from "./questions.ts";
import { createSettle } from "./settle.ts";

// Parking, asking and storing answers, with a real database and a simulated API.

const HOUR_MS = 3_600_000;
let now: Date;
/** The vendors of each call. */
let calls: string[][];
/** Runs in each call, before its answer. */
let duringCall: (keys: readonly string[]) => Promise<void>;

const mongo = await testMongo();
const collections = queueCollections(mongo.db);
await migrateQueue(mongo.db);
beforeEach(async () => {
  now = new Date("2026-11-22T09:00:00Z");
  calls = [];
  duringCall = async () => undefined;
  const { parkedRuns, questions, publicAnswers, days } = collections;
  await Promise.all([parkedRuns.deleteMany(), questions.deleteMany(), publicAnswers.deleteMany(), days.deleteMany()]);
  await collections.asker.updateOne({ _id: "asker" }, { $set: { owner: null, until: new Date(0) } });
});

const askVendors: AskVendors = async (questions) => {
  const keys = questions.map(({ _id }) => _id);
  calls.push(keys);
  await duringCall(keys);
  const askedAt = now;
  return questions.map((question) => ({
    question,
    answer: { key: question._id, parts: { registration: registrationPart(askedAt) }, bodies: [], askedAt },
  }));
};

let replicas = 0;
/** A process that asks. */
function replica(options: { leaseMs?: number; settling?: () => Promise<void>; callsLeft?: () => number } = {}) {
  replicas += 1;
  const asker = createAsker({ collections, owner: `replica ${replicas}`, leaseMs: options.leaseMs ?? 60_000 });
  const settle = createSettle({
    client: mongo.client,
    collections,
    async isAsker(session, term) {
      const isAsker = await asker.touch(session, term);
      await options.settling?.();
      return isAsker;
    },
    noteAnswers: async () => undefined,
  });
  const { round } = createAsking({
    questions: createQuestions(collections),
    askVendors,
    settle,
    fresh: {
      fillUp: async (questions) => ({ questions, callsLeft: 0 }),
      lookUp: async (questions) => [...questions],
      putOff: async () => undefined,
    },
    provider: { callsLeft: async () => options.callsLeft?.(), attempt: (_vendors, work) => work() },
    mayAsk: asker.hold,
    gatherMs: 0,
    standByMs: 5_000,
    onAsked: () => undefined,
    now: () => now,
    logger,
  });
  return { round, asker };
}

/** A run of a monitor, and what it asks. */
function parking(monitor: string, { uei = "UEI1", runSeq = 2, ...asking }: Partial<Asking> & { runSeq?: number } = {}) {
  return {
    run: {
      _id: `${monitor}:${runSeq}`,
      organization_id: `org of ${monitor}`,
      monitor_id: monitor,
      run_seq: runSeq,
      entity_id: "ent_1",
      checks: ["sam_registration" as const],
      parked_at: now,
    },
    asking: {
      uei,
      cage: "",
      priority: 1 as const,
      isRegistered: true,
      asksExclusions: false,
      knowsExclusions: false,
      knownSince: undefined,
      ...asking,
    },
  };
}
const park = (...args: Parameters<typeof parking>) =>
  createParkedRuns({ client: mongo.client, collections }).park(parking(...args));
/** Parks runs as one process does: many share a transaction. */
function parkTogether(parkings: readonly ReturnType<typeof parking>[]) {
  const parkedRuns = createParkedRuns({ client: mongo.client, collections });
  return Promise.all(parkings.map(parkedRuns.park));
}
const statesOf = async () => {
  const runs = await collections.parkedRuns.find().sort({ _id: 1 }).toArray();
  return runs.map(({ _id, state }) => `${_id} ${state}`);
};
const questionKeys = async () => (await collections.questions.find().toArray()).map(({ _id }) => _id);

/** Returns a function that does this at its first call, and nothing at others. */
function atFirst(work: () => unknown): () => Promise<void> {
  let isFirst = true;
  return async () => {
    if (!isFirst) return;
    isFirst = false;
    await work();
  };
}
const databaseFails = () => Promise.reject(new Error("the database failed"));

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** The parked runs of a process whose writes of questions by this method wait for `go`. */
function parkedRunsHeldAt(method: "bulkWrite" | "deleteMany") {
  const [reached, go] = [gate(), gate()];
  const questions = new Proxy(collections.questions, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== method) return member.bind(target);
      return async (...args: unknown[]) => {
        reached.open();
        await go.opened;
        return member.apply(target, args);
      };
    },
  });
  return { held: createParkedRuns({ client: mongo.client, collections: { ...collections, questions } }), reached, go };
}

describe("a vendor is asked about once", () => {
  test("for all the runs that wait for it", async () => {
    await Promise.all([park("mon_a"), park("mon_b"), park("mon_c"), park("mon_d", { uei: "UEI2" })]);
    expect((await questionKeys()).toSorted()).toEqual(["uei:UEI1", "uei:UEI2"]);
    await replica().round();
    expect(calls.map((keys) => keys.toSorted())).toEqual([["uei:UEI1", "uei:UEI2"]]);
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready", "mon_c:2 ready", "mon_d:2 ready"]);
    expect(await questionKeys()).toEqual([]);
    expect(await collections.publicAnswers.findOne({ _id: "uei:UEI1" })).toMatchObject({ asked_at: now });
    expect(await collections.days.findOne({ _id: "2026-11-22" })).toMatchObject({ vendors_asked: 2, new_questions: 2 });
  });

  test("by two replicas side by side", async () => {
    const ueis = Array.from({ length: 250 }, (_, index) => `UEI${index}`);
    await parkTogether(ueis.map((uei) => parking(`mon_${uei}`, { uei })));
    const rounds = async ({ round }: ReturnType<typeof replica>) => {
      for (let count = 0; count < 5; count++) await round();
    };
    await Promise.all([rounds(replica()), rounds(replica())]);
    expect(calls.flat().toSorted()).toEqual(ueis.map((uei) => `uei:${uei}`).toSorted());
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  test.each(["during the call", "while the answer is being stored"])("where a run is parked %s", async (when) => {
    await park("mon_a");
    const parkAnother = atFirst(() => park("mon_b"));
    if (when === "during the call") duringCall = parkAnother;
    await replica({ settling: parkAnother }).round();
    expect(calls).toHaveLength(1);
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready"]);
    expect(await questionKeys()).toEqual([]);
  });

  test("where the answer is stored while a run is being parked", async () => {
    await park("mon_a");
    const { held, reached, go } = parkedRunsHeldAt("bulkWrite");
    const parked = held.park(parking("mon_b"));
    await reached.opened;
    await replica().round();
    go.open();
    await parked;
    expect(calls).toHaveLength(1);
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready"]);
    expect(await questionKeys()).toEqual([]);
  });

  test("where its answer came after a run had looked for it", async () => {
    await park("mon_a");
    await replica().round();
    await park("mon_b");
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready"]);
    expect(await questionKeys()).toEqual([]);
    await park("mon_c", { knownSince: now, priority: 2 });
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready", "mon_c:2 waiting"]);
    expect(await collections.questions.findOne()).toMatchObject({ priority: 2, kind: "registered" });
  });

  test("where its answer could not be stored at first", async () => {
    await park("mon_a");
    const { round } = replica({ settling: atFirst(databaseFails) });
    await expect(round()).rejects.toThrow("the database failed");
    expect(await statesOf()).toEqual(["mon_a:2 waiting"]);
    await round();
    expect(calls).toHaveLength(1);
    expect(await statesOf()).toEqual(["mon_a:2 ready"]);
  });
});

describe("an asker that", () => {
  test("is killed before its answers are stored is followed by another one, which asks again", async () => {
    await park("mon_a");
    const [reached, killed] = [gate(), Promise.withResolvers<never>()];
    duringCall = async () => reached.open();
    const killing = expect(replica({ settling: () => killed.promise }).round()).rejects.toThrow("killed");
    await reached.opened;
    const other = replica();
    expect(await other.round()).toBe(5_000);
    expect(calls).toHaveLength(1);
    killed.reject(new Error("killed"));
    await killing;
    await collections.asker.updateOne({ _id: "asker" }, { $set: { until: new Date(0) } });
    await other.round();
    expect(calls).toHaveLength(2);
    expect(await statesOf()).toEqual(["mon_a:2 ready"]);
  });

  test("wakes after another one has taken over stores nothing", async () => {
    await park("mon_a");
    const [reached, wake] = [gate(), gate()];
    duringCall = async () => {
      reached.open();
      await wake.opened;
    };
    const paused = replica({ leaseMs: 1 });
    const pausedRound = paused.round();
    await reached.opened;
    const other = replica();
    duringCall = async () => undefined;
    await eventually(async () => (await other.round()) !== 5_000);
    expect(calls).toHaveLength(2);
    await collections.parkedRuns.deleteMany({});
    now = new Date(now.getTime() + 24 * HOUR_MS);
    // Today's question must not be answered by yesterday's call.
    await park("mon_a", { runSeq: 3, knownSince: now });
    wake.open();
    expect(await pausedRound).toBe(5_000);
    expect(await statesOf()).toEqual(["mon_a:3 waiting"]);
    expect(await questionKeys()).toEqual(["uei:UEI1"]);
  });

  test("asks again after another one has asked stores nothing of its earlier call", async () => {
    await park("mon_a");
    const first = replica({ settling: atFirst(databaseFails) });
    await expect(first.round()).rejects.toThrow("the database failed");
    await first.asker.release();
    const second = replica();
    await second.round();
    expect(await statesOf()).toEqual(["mon_a:2 ready"]);
    await second.asker.release();
    now = new Date(now.getTime() + 24 * HOUR_MS);
    // Today's question must not be answered by yesterday's call, but by a new one.
    await park("mon_a", { runSeq: 3, knownSince: now });
    await first.round();
    expect(calls).toHaveLength(3);
    expect(await statesOf()).toEqual(["mon_a:3 ready"]);
    expect(await collections.publicAnswers.findOne()).toMatchObject({ asked_at: now });
  });

  test("renews its right stores what it could not store before", async () => {
    const { asker } = replica();
    const term = await asker.hold();
    expect(await asker.hold()).toBe(term);
    await collections.asker.updateOne({ _id: "asker" }, { $set: { until: new Date(0) } });
    expect(await asker.hold()).toBe(term);
    const other = replica();
    await asker.release();
    expect(await other.asker.hold()).toBe(term! + 1);
  });
});

describe("a call that fails", () => {
  test("puts its questions off, and others are asked meanwhile", async () => {
    await park("mon_a");
    duringCall = async () => {
      throw new ProviderError("http_500");
    };
    const { round } = replica();
    expect(await round()).toBe(15_000);
    duringCall = async () => undefined;
    await park("mon_b", { uei: "UEI2" });
    await round();
    expect(calls).toEqual([["uei:UEI1"], ["uei:UEI2"]]);
    expect(await statesOf()).toEqual(["mon_a:2 waiting", "mon_b:2 ready"]);
    now = new Date(now.getTime() + 60_000);
    await round();
    expect(calls.at(-1)).toEqual(["uei:UEI1"]);
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 ready"]);
  });

  test.each([
    ["the quota is used up", new ProviderError("quota_exhausted", { isFault: false })],
    ["the circuit is open", new ProviderError("circuit_open", { isFault: false })],
  ])("because %s says nothing about its questions", async (_why, error) => {
    await park("mon_a");
    duringCall = async () => {
      throw error;
    };
    expect(await replica().round()).toBe(15_000);
    expect(await collections.questions.findOne()).toMatchObject({ failures: 0, not_before: now });
    expect(await statesOf()).toEqual(["mon_a:2 waiting"]);
  });

  /** Parks 100 runs, and makes rounds until `isDone`; returns the sizes of the calls. */
  async function roundsOf({
    isBad,
    isDone,
  }: {
    isBad: (keys: readonly string[]) => Error | undefined;
    isDone: () => Promise<boolean>;
  }) {
    await parkTogether(Array.from({ length: 100 }, (_, index) => parking(`mon_${index}`, { uei: `UEI${index}` })));
    duringCall = async (keys) => {
      const error = isBad(keys);
      if (error) throw error;
    };
    const { round } = replica();
    while (!(await isDone())) await round();
    return calls.map(({ length }) => length);
  }

  test.each([
    ["does not answer in time", new ProviderError("timeout")],
    ["is unavailable", new ProviderError("http_503")],
    ["fails", new ProviderError("http_500")],
    ["finds nothing at its address", new ProviderError("http_404", { isInputFault: true })],
  ])(
    "because SAM.gov %s for one of a hundred vendors puts off only that one, within a few calls",
    async (_why, error) => {
      const sizes = await roundsOf({
        isBad: (keys) => (keys.includes("uei:UEI73") ? error : undefined),
        isDone: async () => (await collections.questions.countDocuments({ failures: 0 })) === 0,
      });
      expect(sizes.length).toBeLessThan(40);
      expect(await questionKeys()).toEqual(["uei:UEI73"]);
      expect(await collections.questions.findOne()).toMatchObject({ failures: 1, kind: "registered" });
      expect(await collections.parkedRuns.countDocuments({ state: "ready" })).toBe(99);
    },
  );

  test("in an outage of an hour makes few vendors be asked by themselves afterwards", async () => {
    let isDown = true;
    const began = now.getTime();
    const sizes = await roundsOf({
      isBad: () => (isDown ? new ProviderError("http_503") : undefined),
      async isDone() {
        now = new Date(now.getTime() + 60_000);
        isDown = now.getTime() - began < HOUR_MS;
        if (!isDown) now = new Date(now.getTime() + 6 * HOUR_MS);
        return (await collections.questions.countDocuments()) === 0;
      },
    });
    expect(sizes.slice(0, 8)).toEqual([100, 50, 25, 13, 7, 4, 2, 1]);
    // The first one after the outage, and then all others in one call or, for those that failed most, by themselves.
    expect(sizes.slice(sizes.lastIndexOf(Math.max(...sizes.slice(1)))).length).toBeLessThan(30);
  });
});

test("with few calls left, the most urgent vendors are asked today and the others tomorrow", async () => {
  for (const [index, priority] of ([2, 1] as const).entries()) {
    const ueis = Array.from({ length: 20 }, (_, number) => `UEI${index}${number}`);
    await parkTogether(ueis.map((uei) => parking(`mon_${uei}`, { uei, priority })));
  }
  let left = 3;
  const { round } = replica({ callsLeft: () => left });
  duringCall = async (keys) => {
    left -= Math.ceil(keys.length / 10);
  };
  const waitMs = await round();
  expect(calls.map((keys) => keys.length)).toEqual([20]);
  expect(calls[0]!.every((key) => key.startsWith("uei:UEI1"))).toBe(true);
  expect(waitMs).toBe(300_000);
  now = new Date("2026-11-23T00:00:00Z");
  left = 500;
  await round();
  expect(calls[1]!.every((key) => key.startsWith("uei:UEI0"))).toBe(true);
  expect(await collections.questions.countDocuments()).toBe(0);
});

describe("a monitor", () => {
  const parkedRuns = () => createParkedRuns({ client: mongo.client, collections });

  test("has one parked run, its newest", async () => {
    await park("mon_a", { runSeq: 2 });
    await park("mon_a", { runSeq: 4 });
    await park("mon_a", { runSeq: 3 });
    await park("mon_a", { runSeq: 4, uei: "UEI2" });
    expect(await collections.parkedRuns.find().toArray()).toMatchObject([{ _id: "mon_a:4", question: "uei:UEI1" }]);
    await Promise.all([5, 7, 6, 8].map((runSeq) => park("mon_a", { runSeq })));
    expect(await statesOf()).toEqual(["mon_a:8 waiting"]);
    expect(await parkedRuns().of({ organization_id: "org of mon_a", monitor_id: "mon_a" })).toMatchObject({
      run_seq: 8,
    });
    expect(await parkedRuns().of({ organization_id: "another org", monitor_id: "mon_a" })).toBeNull();
  });

  test("takes a question along that only its older run asked", async () => {
    await Promise.all([park("mon_a"), park("mon_b"), park("mon_c", { uei: "UEI2" })]);
    await park("mon_a", { runSeq: 3, uei: "UEI3" });
    await park("mon_c", { runSeq: 3, uei: "UEI3" });
    expect((await questionKeys()).toSorted()).toEqual(["uei:UEI1", "uei:UEI3"]);
    expect(await collections.questions.findOne({ _id: "uei:UEI1" })).toMatchObject({ runs: 1 });
    expect(await collections.questions.findOne({ _id: "uei:UEI3" })).toMatchObject({ runs: 2 });
  });

  test("keeps the place of a question that its newer run asks too", async () => {
    await park("mon_a");
    const asked = await collections.questions.findOne();
    now = new Date(now.getTime() + 24 * HOUR_MS);
    await park("mon_a", { runSeq: 3 });
    expect(await collections.questions.find().toArray()).toEqual([asked]);
  });

  test("has its question asked for all of its reasons", async () => {
    await park("mon_a", { priority: 2, asksExclusions: true });
    await park("mon_b", { priority: 1, asksExclusions: false });
    expect(await collections.questions.findOne()).toMatchObject({ priority: 1, asks_exclusions: true, runs: 2 });
  });
});

describe("the run of a canceled monitor", () => {
  const leave = (monitor: string, runSeq = 2) =>
    createParkedRuns({ client: mongo.client, collections }).leave({
      organization_id: `org of ${monitor}`,
      monitor_id: monitor,
      run_seq: runSeq,
    });

  test("takes its question along, unless another run waits for it", async () => {
    await Promise.all([park("mon_a"), park("mon_b"), park("mon_c", { uei: "UEI2" })]);
    await leave("mon_a");
    await leave("mon_a");
    expect(await statesOf()).toEqual(["mon_b:2 waiting", "mon_c:2 waiting"]);
    expect(await collections.questions.findOne({ _id: "uei:UEI1" })).toMatchObject({ runs: 1 });
    await leave("mon_c");
    expect(await questionKeys()).toEqual(["uei:UEI1"]);
    await leave("mon_b", 1);
    expect(await statesOf()).toEqual(["mon_b:2 waiting"]);
  });

  test("takes its question along where the last two leave at the same moment", async () => {
    for (let count = 0; count < 10; count++) {
      await Promise.all([park("mon_a"), park("mon_b")]);
      await Promise.all([leave("mon_a"), leave("mon_b")]);
      expect([await statesOf(), await questionKeys()]).toEqual([[], []]);
    }
  });

  test("leaves the question of a run that is parked at the same moment", async () => {
    await park("mon_a");
    const { held, reached, go } = parkedRunsHeldAt("deleteMany");
    const left = held.leave({ organization_id: "org of mon_a", monitor_id: "mon_a", run_seq: 2 });
    await reached.opened;
    const parked = park("mon_b");
    go.open();
    await Promise.all([left, parked]);
    expect([await statesOf(), await questionKeys()]).toEqual([["mon_b:2 waiting"], ["uei:UEI1"]]);
  });
});

describe("ready runs", () => {
  const parkedRuns = () => createParkedRuns({ client: mongo.client, collections });
  const claim = async (owner: string, leaseMs = 60_000, limit = 2) => {
    const claimed = await parkedRuns().claimReady({ owner, limit, leaseMs, withTin: false });
    return claimed.map(({ _id }) => _id);
  };

  test("are claimed by one replica, and by another one once its lease has ended", async () => {
    await Promise.all(["mon_a", "mon_b", "mon_c"].map((monitor) => park(monitor)));
    expect(await claim("one")).toEqual([]);
    await replica().round();
    const first = await claim("one", 1);
    expect(first).toHaveLength(2);
    await eventually(async () => (await claim("two")).length === 2);
    const [one, two] = await Promise.all([claim("one"), claim("two")]);
    expect([...one, ...two]).toHaveLength(1);
    expect(await claim("three")).toEqual([]);
  });

  test("with tin_match are claimed apart", async () => {
    await park("mon_a");
    await replica().round();
    await collections.parkedRuns.updateOne({}, { $set: { checks: ["sam_registration", "tin_match"] } });
    expect(await claim("one")).toEqual([]);
    expect(await parkedRuns().claimReady({ owner: "one", limit: 1, leaseMs: 1, withTin: true })).toHaveLength(1);
  });

  test("are those, too, that waited too long where nobody asks", async () => {
    await park("mon_a");
    now = new Date(now.getTime() + HOUR_MS);
    await park("mon_b");
    expect(await parkedRuns().giveUp(now)).toBe(1);
    expect(await statesOf()).toEqual(["mon_a:2 ready", "mon_b:2 waiting"]);
  });
});
