import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deadlineAt, tooLate, underDeadline } from "@vvs/deadline";
import { outcomeUnknown } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { type Idempotency, IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { type ClientSession, MongoClient } from "mongodb";
import { createIdempotencyStore, type IdempotentCall, migrateIdempotency } from "./index.ts";

interface Effect {
  _id: string;
}

const LEASE_MS = 30_000;
const tenant: Tenant = { organizationId: "org_1", environment: "live" };
const body = (text: string) => new TextEncoder().encode(text);

const client = new MongoClient(process.env.MONGODB_URI!);
const db = client.db(`test_${randomBytes(6).toString("hex")}`);
const effects = db.collection<Effect>("effects");
beforeAll(async () => {
  await db.createCollection("effects");
  await migrateIdempotency(db);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** A store with its own clock, like each instance of a service. */
function storeAt(time: { ms: number }) {
  return createIdempotencyStore({ db, leaseMs: LEASE_MS, now: () => new Date(time.ms) });
}

let names = 0;
/** A new key, and the hash of its body. */
function newKey(bodyHash = body("a")) {
  return create(IdempotencySchema, { apiKeyId: "key_1", path: "/v1/entities", key: `key ${++names}`, bodyHash });
}

function write(id: string, complete: (session: ClientSession, id: string) => Promise<void>): Promise<string> {
  return inTransaction(client, async (session) => {
    await effects.insertOne({ _id: id }, { session });
    await complete(session, id);
    return id;
  });
}

/** One key, hashed by gateways that have these rings, newest keys first. */
function newKeyUnder(...rings: string[][]) {
  const name = `key ${++names}`;
  const hashes = (ring: string, text = "a") => ({ key: `${name} by ${ring}`, bodyHash: body(`${text} by ${ring}`) });
  return rings.map((ring) => (text = "a") => {
    const [newest, ...older] = ring.map((one) => hashes(one, text));
    return create(IdempotencySchema, { apiKeyId: "key_1", path: "/v1/entities", ...newest, older });
  });
}

/** A call that writes an effect with this id. */
function call(id: string, idempotency = newKey(), organization = tenant): IdempotentCall<string> {
  return {
    tenant: organization,
    idempotency,
    run: (complete) => write(id, complete),
    replay: async (resourceId) => `again ${resourceId}`,
  };
}

const written = async (...ids: string[]) =>
  (await effects.find({ _id: { $in: ids } }).toArray()).map(({ _id }) => _id).sort();
const store = storeAt({ ms: Date.now() });

test("the first call runs, and each later one with the same body gets its result", async () => {
  const key = newKey();
  expect(await store.once(call("first", key))).toEqual({ value: "first", replayed: false });
  for (const id of ["second", "third"]) {
    expect(await store.once(call(id, key))).toEqual({ value: "again first", replayed: true });
  }
  expect(await written("first", "second", "third")).toEqual(["first"]);
});

test("without a key every call runs", async () => {
  const once = { ...call("unkeyed-1"), idempotency: undefined };
  expect(await store.once(once)).toEqual({ value: "unkeyed-1", replayed: false });
  expect(await store.once({ ...once, run: (complete) => write("unkeyed-2", complete) })).toEqual({
    value: "unkeyed-2",
    replayed: false,
  });
});

test("a call with the same key and another body is refused, and writes nothing", async () => {
  const key = newKey();
  await store.once(call("body-a", key));
  const other = { ...key, bodyHash: body("b") };
  await expect(store.once(call("body-b", other))).rejects.toMatchObject({ code: "idempotency_mismatch" });
  expect(await written("body-a", "body-b")).toEqual(["body-a"]);
});

test.each(["apiKeyId", "path", "key"] as const)("the same key with another %s is another key", async (field) => {
  const key = newKey();
  await store.once(call(`one of ${field}`, key));
  const { replayed } = await store.once(call(`other ${field}`, { ...key, [field]: "other" }));
  expect(replayed).toBe(false);
});

describe("while the hash keys are rotated", () => {
  const rings: [string, string[], string[]][] = [
    ["the old ring, then the new", ["k1"], ["k2", "k1"]],
    ["the new ring, then the old", ["k2", "k1"], ["k1"]],
    ["the new key first, then last", ["k2", "k1"], ["k1", "k2"]],
    ["one rotation, then the next", ["k2", "k1"], ["k3", "k2"]],
  ];

  test.each(rings)("a repeated call is recognized: %s", async (name, one, two) => {
    const [first, second] = newKeyUnder(one, two);
    expect(await store.once(call(`${name} 1`, first!()))).toEqual({ value: `${name} 1`, replayed: false });
    expect(await store.once(call(`${name} 2`, second!()))).toEqual({ value: `again ${name} 1`, replayed: true });
    await expect(store.once(call(`${name} 3`, second!("b")))).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await written(`${name} 1`, `${name} 2`, `${name} 3`)).toEqual([`${name} 1`]);
  });

  test.each(rings)("exactly one of several concurrent calls runs: %s", async (name, one, two) => {
    const keys = newKeyUnder(one, two);
    const ids = Array.from({ length: 20 }, (_, index) => `${name} race-${index}`);
    const outcomes = await Promise.allSettled(ids.map((id, index) => store.once(call(id, keys[index % 2]!()))));
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled" && !outcome.value.replayed)).toHaveLength(1);
    expect(await written(...ids)).toHaveLength(1);
  });

  test.each(rings)("an abandoned call is taken over, and can no longer write: %s", async (name, one, two) => {
    const [first, second] = newKeyUnder(one, two);
    const time = { ms: Date.now() };
    const instance = storeAt(time);
    const late: IdempotentCall<string> = {
      ...call(`${name} late`, first!()),
      async run(complete) {
        time.ms += LEASE_MS + 1;
        expect(await instance.once(call(`${name} heir`, second!()))).toMatchObject({ replayed: false });
        return write(`${name} late`, complete);
      },
    };
    await expect(instance.once(late)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(await written(`${name} late`, `${name} heir`)).toEqual([`${name} heir`]);
  });
});

test("while the first call runs, the second is refused", async () => {
  const key = newKey();
  const second = call("too-early", key);
  const first: IdempotentCall<string> = {
    ...call("running", key),
    async run(complete) {
      await expect(store.once(second)).rejects.toMatchObject({ code: "idempotency_conflict" });
      return write("running", complete);
    },
  };
  expect(await store.once(first)).toEqual({ value: "running", replayed: false });
  expect(await written("running", "too-early")).toEqual(["running"]);
});

test("exactly one of many concurrent first calls runs", async () => {
  const key = newKey();
  const ids = Array.from({ length: 20 }, (_, index) => `race-${index}`);
  const outcomes = await Promise.allSettled(ids.map((id) => store.once(call(id, key))));
  const ran = outcomes.filter((outcome) => outcome.status === "fulfilled" && !outcome.value.replayed);
  expect(ran).toHaveLength(1);
  expect(await written(...ids)).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_conflict" });
  }
});

test("a call that fails leaves nothing: its key is free again, even for another body", async () => {
  const key = newKey();
  const failing = {
    ...call("unused", key),
    run: (complete: (session: ClientSession, id: string) => Promise<void>) =>
      inTransaction(client, async (session) => {
        await effects.insertOne({ _id: "rolled back" }, { session });
        await complete(session, "rolled back");
        throw new Error("refused");
      }),
  };
  await expect(store.once(failing)).rejects.toThrow("refused");
  expect(await written("rolled back")).toEqual([]);
  const retried = await store.once(call("retried", { ...key, bodyHash: body("another") }));
  expect(retried).toEqual({ value: "retried", replayed: false });
});

/** A call whose outcome is unknown, with or without an effect. */
function unresolved(id: string, key: Idempotency, effect: boolean): IdempotentCall<string> {
  return {
    ...call(id, key),
    async run(complete) {
      if (effect) await write(id, complete);
      throw outcomeUnknown(new Error("no answer to the commit"));
    },
  };
}

test("a retry of a call with an unknown outcome finds its effect", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const deadline = deadlineAt(Date.now() + 5_000);
  const first = underDeadline(deadline, () => instance.once(unresolved("unknown", key, true)));
  await expect(first).rejects.toMatchObject({ outcomeUnknown: true });
  expect(await instance.once(call("again", key))).toEqual({ value: "again unknown", replayed: true });
  expect(await written("unknown", "again")).toEqual(["unknown"]);
});

test("a call with an unknown outcome and no effect can be repeated after its deadline, not before", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const deadline = deadlineAt(time.ms + 5_000);
  const first = underDeadline(deadline, () => instance.once(unresolved("unknown", key, false)));
  await expect(first).rejects.toMatchObject({ outcomeUnknown: true });
  await expect(instance.once(call("early", key))).rejects.toMatchObject({ code: "idempotency_conflict" });
  time.ms += 5_001;
  expect(await instance.once(call("second try", key))).toEqual({ value: "second try", replayed: false });
});

test("a call that is refused because its time for writes is over frees its key", async () => {
  const key = newKey();
  const deadline = { at: Date.now() + 5_000, writesEndAt: Date.now() + 4_000 };
  const refused = {
    ...call("refused", key),
    run: async () => {
      deadline.writesEndAt = 0;
      throw tooLate();
    },
  };
  await expect(underDeadline(deadline, () => store.once(refused))).rejects.toMatchObject({ outcomeUnknown: false });
  expect(await store.once(call("retry", key))).toEqual({ value: "retry", replayed: false });
});

test("a call that does not complete its key is an error, not a silent repetition", async () => {
  const incomplete = { ...call("unused"), run: async () => "done" };
  await expect(store.once(incomplete)).rejects.toThrow("without completing its key");
});

test("the key of an abandoned call is taken over once its lease is over, not before", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const abandoned = new Promise<never>(() => undefined);
  let started = () => {};
  const running = new Promise<void>((resolve) => (started = resolve));
  void instance.once({
    ...call("unused", key),
    run: () => {
      started();
      return abandoned;
    },
  });
  await running;
  time.ms += LEASE_MS;
  await expect(instance.once(call("early", key))).rejects.toMatchObject({ code: "idempotency_conflict" });
  time.ms += 1;
  expect(await instance.once(call("heir", key))).toEqual({ value: "heir", replayed: false });
  expect(await written("early", "heir")).toEqual(["heir"]);
});

test("a call that outlives its lease can't write once another call has taken its key over", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const late: IdempotentCall<string> = {
    ...call("late", key),
    async run(complete) {
      time.ms += LEASE_MS + 1;
      expect(await instance.once(call("successor", key))).toEqual({ value: "successor", replayed: false });
      return write("late", complete);
    },
  };
  await expect(instance.once(late)).rejects.toMatchObject({ code: "idempotency_conflict" });
  expect(await written("late", "successor")).toEqual(["successor"]);
  expect(await instance.once(call("after", key))).toEqual({ value: "again successor", replayed: true });
});

test("a call that outlives its lease completes if no other call took its key over", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const slow: IdempotentCall<string> = {
    ...call("slow", key),
    run(complete) {
      time.ms += 2 * LEASE_MS;
      return write("slow", complete);
    },
  };
  expect(await instance.once(slow)).toEqual({ value: "slow", replayed: false });
  expect(await instance.once(call("later", key))).toEqual({ value: "again slow", replayed: true });
});

test("a transaction that is retried completes its key once", async () => {
  const key = newKey();
  let runs = 0;
  const disturbed: IdempotentCall<string> = {
    ...call("disturbed", key),
    run: (complete) =>
      inTransaction(client, async (session) => {
        await effects.insertOne({ _id: "disturbed" }, { session });
        await complete(session, "disturbed");
        if (++runs === 1) await effects.updateOne({ _id: "rival" }, { $set: { at: 1 } }, { session });
        return "disturbed";
      }),
  };
  await effects.insertOne({ _id: "rival" });
  await inTransaction(client, async (session) => {
    await effects.updateOne({ _id: "rival" }, { $set: { at: 2 } }, { session });
    const outcome = store.once(disturbed);
    while (runs === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return outcome;
  });
  expect(runs).toBeGreaterThan(1);
  expect(await store.once(call("later", key))).toEqual({ value: "again disturbed", replayed: true });
});

test("an organization never gets the result of another organization's key", async () => {
  const key = newKey();
  await store.once(call("theirs", key));
  const foreign = call("foreign", key, { organizationId: "org_2", environment: "live" });
  await expect(store.once(foreign)).rejects.toMatchObject({ code: "idempotency_conflict" });
});

test("keys expire after 24 hours, and migrating again changes nothing", async () => {
  await migrateIdempotency(db);
  const indexes = await db.collection("idempotency_calls").indexes();
  expect(indexes).toContainEqual(expect.objectContaining({ key: { created_at: 1 }, expireAfterSeconds: 86_400 }));
});
