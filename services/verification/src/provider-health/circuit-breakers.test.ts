import { beforeEach, describe, expect, test } from "@jest/globals";
import { underDeadline } from "@vvs/deadline";
import { connectMongo } from "@vvs/mongo";
import { silentLogger as logger, testMongo } from "@vvs/testing";
import { type Db, MongoClient } from "mongodb";
import type { ProviderError } from "../providers/provider.ts";
import { type AttemptResult, defaultCircuitSettings } from "./circuit.ts";
import { createCircuitBreakers } from "./circuit-breakers.ts";

const settings = { ...defaultCircuitSettings, faultsInRow: 3, openMs: 10_000, probeLeaseMs: 30_000 };
const mongo = await testMongo();
const commands: string[] = [];
mongo.client.on("commandStarted", ({ commandName, command }) => {
  // A write first finds the document of its provider.
  commands.push(command.filter?._id ? `${commandName} of one provider` : commandName);
});

let db: Db;
let time: Date;
beforeEach(() => {
  db = mongo.newDb({ ignoreUndefined: true });
  time = new Date("2026-11-21T23:00:00Z");
  commands.length = 0;
});

const pass = (seconds: number) => {
  time = new Date(time.getTime() + seconds * 1_000);
};
const replica = ({ quota, fingerprint = "key1", of = db }: { quota?: number; fingerprint?: string; of?: Db } = {}) =>
  createCircuitBreakers({
    db: of,
    settings,
    accounts: { p: { fingerprint, quota } },
    now: () => time,
    logger,
    // On a loaded machine the database may be slow without being unavailable.
    storeMs: 20_000,
  });
type Replica = ReturnType<typeof replica>;

let inputs = 0;
const newInput = () => `input ${inputs++}`;
/** Makes an attempt about this input that ends this way. Returns its kind, or the reason why it was refused. */
async function ask(breakers: Replica, input: string, kind: AttemptResult["kind"], shutUntil?: Date) {
  try {
    (await breakers.admit("p", "direct", input))({ kind, shutUntil });
    return kind;
  } catch (error) {
    return (error as ProviderError).reason;
  }
}
/** Makes an attempt about an input of its own. */
const attempt = (breakers: Replica, kind: AttemptResult["kind"] = "answered", shutUntil?: Date) =>
  ask(breakers, newInput(), kind, shutUntil);
async function openBy(breakers: Replica) {
  for (let fault = 0; fault < settings.faultsInRow; fault++) await attempt(breakers, "fault");
  await breakers.flush();
}
const healthOf = (breakers: Replica) => breakers.health("p");

describe("a circuit", () => {
  test("opens immediately on the replica with the faults, within a second on the others, and stays open after a restart", async () => {
    const [one, other] = [replica(), replica()];
    expect(await attempt(other)).toBe("answered");
    await openBy(one);
    expect(await attempt(one)).toBe("circuit_open");
    pass(1);
    expect(await attempt(other)).toBe("circuit_open");
    expect(await attempt(replica())).toBe("circuit_open");
    expect((await healthOf(replica())).condition).toBe("unavailable");
  });

  test("opens for all replicas by faults that are reported in the last second of a call", async () => {
    const client = await connectMongo({
      uri: process.env.MONGODB_URI!,
      service: "test",
      logger,
      stopping: new AbortController().signal,
    });
    const one = replica({ of: client.db(db.databaseName) });
    await underDeadline({ at: Date.now() + 900, writesEndAt: 0 }, () => openBy(one));
    expect(await attempt(replica())).toBe("circuit_open");
    await client.close();
  });

  test("admits one probe among all replicas, whose answer closes it for all", async () => {
    const replicas = [replica(), replica(), replica()];
    await openBy(replicas[0]!);
    pass(10);
    expect((await healthOf(replicas[1]!)).condition).toBe("degraded");
    const asked = await Promise.allSettled(
      replicas.flatMap((breakers) => Array.from({ length: 5 }, () => breakers.admit("p", "direct", newInput()))),
    );
    const admitted = asked.filter((one) => one.status === "fulfilled");
    expect(admitted).toHaveLength(1);
    admitted[0]!.value({ kind: "answered" });
    await Promise.all(replicas.map((breakers) => breakers.flush()));
    pass(1);
    for (const breakers of replicas) expect(await attempt(breakers)).toBe("answered");
    expect(await healthOf(replica())).toMatchObject({ condition: "available" });
  });

  test("is never opened by one input, on however many replicas it fails", async () => {
    const replicas = [replica(), replica()];
    for (let fault = 0; fault < 100; fault++) {
      for (const breakers of replicas) expect(await ask(breakers, "bad", "fault")).toBe("fault");
    }
    await Promise.all(replicas.map((breakers) => breakers.flush()));
    for (const breakers of [...replicas, replica()]) expect(await attempt(breakers)).toBe("answered");
  });

  test("is opened as quickly as ever by two inputs on two replicas", async () => {
    const [one, other] = [replica(), replica()];
    for (const [breakers, input] of [
      [one, "A"],
      [other, "B"],
      [one, "A"],
    ] as const) {
      expect(await ask(breakers, input, "fault")).toBe("fault");
      await breakers.flush();
    }
    expect(await attempt(replica())).toBe("circuit_open");
  });

  test("is not held open by one input that fails as the probe on every replica", async () => {
    const replicas = [replica(), replica()];
    await openBy(replicas[0]!);
    pass(10);
    expect(await ask(replicas[1]!, "bad", "fault")).toBe("fault");
    await replicas[1]!.flush();
    for (const breakers of [...replicas, replica()]) expect(await ask(breakers, "bad", "fault")).toBe("circuit_open");
    expect(await ask(replicas[0]!, "good", "answered")).toBe("answered");
    await replicas[0]!.flush();
    for (const breakers of [replica(), replica()]) expect(await attempt(breakers)).toBe("answered");
  });

  test("refuses a probe to an input whose probe failed on a replica that has not read of it", async () => {
    const [one, other] = [replica(), replica()];
    await openBy(one);
    pass(10);
    await other.health("p");
    expect(await ask(one, "bad", "fault")).toBe("fault");
    await one.flush();
    expect(await ask(other, "bad", "fault")).toBe("circuit_open");
  });

  test("gives the probe to another replica when the first one died, and ignores a late answer to the first", async () => {
    const [one, other] = [replica(), replica()];
    await openBy(one);
    pass(10);
    const late = await one.admit("p", "direct", newInput());
    pass(29);
    expect(await attempt(other)).toBe("circuit_open");
    pass(1);
    const probe = await other.admit("p", "direct", newInput());
    late({ kind: "answered" });
    await one.flush();
    expect(await attempt(replica())).toBe("circuit_open");
    probe({ kind: "answered" });
    await other.flush();
    expect(await attempt(replica())).toBe("answered");
  });

  test("is not affected by attempts that say nothing about the provider", async () => {
    const one = replica();
    for (let time = 0; time < 10; time++) expect(await attempt(one, "unknown")).toBe("unknown");
    expect(await healthOf(one)).toEqual({
      condition: "available",
      quotaRemaining: undefined,
      calls: undefined,
      lastSuccessAt: undefined,
    });
  });

  test("costs one read per second for any number of attempts", async () => {
    const one = replica();
    // Results are written by real time, so writes are not counted.
    const reads = () => commands.filter((command) => command === "find");
    for (let time = 0; time < 500; time++) await attempt(one);
    expect(reads()).toHaveLength(1);
    pass(1);
    await Promise.all(Array.from({ length: 500 }, () => attempt(one)));
    expect(reads()).toHaveLength(2);
    await one.flush();
    expect(await healthOf(replica())).toMatchObject({ condition: "available", lastSuccessAt: time });
  });

  test("works with its own results while the database is unavailable", async () => {
    const away = new MongoClient("mongodb://127.0.0.1:1/", { serverSelectionTimeoutMS: 2_000 });
    try {
      const one = replica({ quota: 5, of: away.db("away") });
      for (let fault = 0; fault < settings.faultsInRow; fault++) expect(await attempt(one, "fault")).toBe("fault");
      expect(await attempt(one)).toBe("circuit_open");
      await one.takeCall("p", "direct");
      await one.flush();
    } finally {
      await away.close();
    }
  });
});

describe("a quota", () => {
  test("that the provider reports as used up refuses attempts until its reset and not longer, also after a restart", async () => {
    const [one, other] = [replica(), replica()];
    await attempt(other);
    const reset = new Date(time.getTime() + 3_600_000);
    expect(await attempt(one, "fault", reset)).toBe("fault");
    await one.flush();
    expect(await attempt(one)).toBe("quota_exhausted");
    pass(3_599);
    for (const breakers of [one, other, replica()]) expect(await attempt(breakers)).toBe("quota_exhausted");
    expect(await healthOf(replica())).toMatchObject({ condition: "unavailable", quotaRemaining: 0 });
    pass(1);
    for (const breakers of [one, other, replica()]) expect(await attempt(breakers)).toBe("answered");
  });

  test("that the provider reports as used up closes the provider only for the key that received the report", async () => {
    const [one, changed] = [replica(), replica({ fingerprint: "key2" })];
    const reset = new Date(time.getTime() + 3_600_000);
    await attempt(one, "fault", reset);
    await one.flush();
    expect(await attempt(changed)).toBe("answered");
    expect(await changed.left("p", "runs")).toBeUndefined();
    await attempt(changed, "fault", new Date(reset.getTime() - 60_000));
    await changed.flush();
    for (const fingerprint of ["key1", "key2"]) {
      const restarted = replica({ fingerprint });
      expect(await attempt(restarted)).toBe("quota_exhausted");
      expect(await restarted.left("p", "runs")).toBe(0);
    }
    pass(3_540);
    expect(await attempt(replica())).toBe("quota_exhausted");
    expect(await attempt(replica({ fingerprint: "key2" }))).toBe("answered");
  });

  test("that a class has spent refuses its attempts on all replicas until midnight UTC, and those of no other class", async () => {
    const replicas = [replica({ quota: 10 }), replica({ quota: 10 })];
    const takes = replicas.flatMap((breakers) => Array.from({ length: 4 }, () => breakers.takeCall("p", "direct")));
    const refused = (await Promise.allSettled(takes)).filter((each) => each.status === "rejected");
    expect(refused.map(({ reason }) => [reason.reason, reason.isFault])).toEqual(
      Array.from({ length: 3 }, () => ["quota_exhausted", false]),
    );
    for (const breakers of [...replicas, replica({ quota: 10 })]) {
      expect(await healthOf(breakers)).toMatchObject({
        condition: "unavailable",
        quotaRemaining: 0,
        calls: { direct: 5, first: 0, runs: 0, quota: 10 },
      });
      expect(await attempt(breakers)).toBe("quota_exhausted");
      expect([await breakers.left("p", "direct"), await breakers.left("p", "runs")]).toEqual([0, 5]);
      expect(await breakers.admit("p", "runs", newInput())).toBeDefined();
    }
    expect(await attempt(replica({ quota: 11 }))).toBe("answered");
    pass(3_600);
    expect(await healthOf(replicas[0]!)).toMatchObject({ condition: "available", quotaRemaining: 5 });
    expect(await attempt(replicas[0]!)).toBe("answered");
  });

  test("that only runs and first runs have spent leaves the provider available to direct callers", async () => {
    const one = replica({ quota: 10 });
    for (const callClass of ["runs", "first"] as const) {
      await Promise.allSettled(Array.from({ length: 10 }, () => one.takeCall("p", callClass)));
    }
    expect(await healthOf(one)).toMatchObject({ condition: "available", quotaRemaining: 3 });
    expect([await one.left("p", "first"), await one.left("p", "runs")]).toEqual([0, 0]);
  });
});
