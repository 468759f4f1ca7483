import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, test } from "@jest/globals";
import { deadlineAt, tooLate, underDeadline } from "@vvs/deadline";
import { outcomeUnknown } from "@vvs/errors";
import { createGroupCommit, inTransaction } from "@vvs/mongo";
import { type Idempotency, IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { MongoClient, MongoNetworkError } from "mongodb";
import { createIdempotencyStore, type HeldKey, type IdempotentCall, migrateIdempotency } from "./index.ts";

interface Effect {
  _id: string;
}

const LEASE_MS = 30_000;
const tenant: Tenant = { organizationId: "org_1", environment: "live" };
const body = (text: string) => new TextEncoder().encode(text);

const client = new MongoClient(process.env.MONGODB_URI!);
const db = client.db(`test_${randomBytes(6).toString("hex")}`);
const effects = await db.createCollection<Effect>("effects");
await migrateIdempotency(db);
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

function write(id: string, key: HeldKey | undefined): Promise<string> {
  return inTransaction(client, async (session) => {
    await effects.insertOne({ _id: id }, { session });
    await store.complete(session, [{ key, resourceId: id }]);
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
    run: (held) => write(id, held),
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
  expect(await store.once({ ...once, run: (held) => write("unkeyed-2", held) })).toEqual({
    value: "unkeyed-2",
    replayed: false,
  });
});

test.each(["apiKeyId", "path", "key"] as const)("the same key with another %s is another key", async (field) => {
  const key = newKey();
  await store.once(call(`one of ${field}`, key));
  const { replayed } = await store.once(call(`other ${field}`, { ...key, [field]: "other" }));
  expect(replayed).toBe(false);
});

describe("with one hash key, and while keys are rotated", () => {
  const rings: [string, string[], string[]][] = [
    ["one key", ["k1"], ["k1"]],
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
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_conflict" });
    }
  });

  test.each(rings)("an abandoned call is taken over, and can no longer write: %s", async (name, one, two) => {
    const [first, second] = newKeyUnder(one, two);
    const time = { ms: Date.now() };
    const instance = storeAt(time);
    const late: IdempotentCall<string> = {
      ...call(`${name} late`, first!()),
      async run(held) {
        time.ms += LEASE_MS + 1;
        expect(await instance.once(call(`${name} heir`, second!()))).toMatchObject({ replayed: false });
        return write(`${name} late`, held);
      },
    };
    await expect(instance.once(late)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(await written(`${name} late`, `${name} heir`)).toEqual([`${name} heir`]);
    const after = await instance.once(call(`${name} after`, second!()));
    expect(after).toEqual({ value: `again ${name} heir`, replayed: true });
  });
});

test("while the first call runs, the second is refused", async () => {
  const key = newKey();
  const second = call("too-early", key);
  const first: IdempotentCall<string> = {
    ...call("running", key),
    async run(held) {
      await expect(store.once(second)).rejects.toMatchObject({ code: "idempotency_conflict" });
      return write("running", held);
    },
  };
  expect(await store.once(first)).toEqual({ value: "running", replayed: false });
  expect(await written("running", "too-early")).toEqual(["running"]);
});

test("a call that fails leaves nothing: its key is free again, even for another body", async () => {
  const key = newKey();
  const failing = {
    ...call("unused", key),
    run: (held: HeldKey | undefined) =>
      inTransaction(client, async (session) => {
        await effects.insertOne({ _id: "rolled back" }, { session });
        await store.complete(session, [{ key: held, resourceId: "rolled back" }]);
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
    async run(held) {
      if (effect) await write(id, held);
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

test("a call that outlives its lease completes if no other call took its key over", async () => {
  const key = newKey();
  const time = { ms: Date.now() };
  const instance = storeAt(time);
  const slow: IdempotentCall<string> = {
    ...call("slow", key),
    run(held) {
      time.ms += 2 * LEASE_MS;
      return write("slow", held);
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
    run: (held) =>
      inTransaction(client, async (session) => {
        await effects.insertOne({ _id: "disturbed" }, { session });
        await store.complete(session, [{ key: held, resourceId: "disturbed" }]);
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

describe("calls that come together", () => {
  type Keys = ReturnType<typeof db.collection>;

  /** A store of another process, on whose collection some methods differ. */
  function otherStore(differing: (keys: Keys) => Partial<Keys>) {
    const other = client.db(db.databaseName);
    other.collection = ((name: string) => {
      const keys = db.collection(name);
      return Object.assign(keys, differing(keys));
    }) as typeof other.collection;
    return createIdempotencyStore({ db: other, leaseMs: LEASE_MS, now: () => new Date() });
  }

  /** Starts calls in one turn of the event loop, and returns their results or codes of errors. */
  async function together(by: typeof store, calls: readonly IdempotentCall<string>[]): Promise<string[]> {
    const outcomes = await Promise.allSettled(calls.map((each) => by.once(each)));
    return outcomes.map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.value : (outcome.reason.code ?? outcome.reason.message),
    );
  }

  test("claim their keys with one command, complete them with one and free them with one, whose ever they are", async () => {
    const commands: string[] = [];
    const watched = new MongoClient(process.env.MONGODB_URI!, { monitorCommands: true });
    watched.on("commandStarted", ({ commandName, command }) => {
      if (command[commandName] === "idempotency_calls") commands.push(commandName);
    });
    const watchedDb = watched.db(db.databaseName);
    const by = createIdempotencyStore({ db: watchedDb, leaseMs: LEASE_MS, now: () => new Date() });
    const commit = createGroupCommit<{ key: HeldKey | undefined; resourceId: string }>({
      client: watched,
      write: (session, completions) => by.complete(session, completions),
    });
    const callsThat = (run: (id: string, held: HeldKey | undefined) => Promise<string>) =>
      Array.from({ length: 16 }, (_, n) => ({
        ...call(`whose-${n}`, newKey(), { organizationId: `org_${n}`, environment: "live" as const }),
        run: (held: HeldKey | undefined) => run(`whose-${n}`, held),
      }));
    const succeeding = callsThat((resourceId, key) => commit({ key, resourceId }).then(() => resourceId));
    expect(await together(by, succeeding)).toEqual(succeeding.map((_, n) => `whose-${n}`));
    expect(commands.splice(0)).toEqual(["insert", "update"]);
    const failing = callsThat(() => Promise.reject(new Error("refused")));
    expect(await together(by, failing)).toEqual(failing.map(() => "refused"));
    expect(commands).toEqual(["insert", "delete"]);
    await watched.close();
  });

  test("claim their keys once when the answer to the command is lost", async () => {
    let claims = 0;
    const by = otherStore((keys) => {
      const { insertMany } = keys;
      return {
        async insertMany(...args) {
          const answer = insertMany.apply(keys, args);
          if (++claims === 1) await answer.then(() => Promise.reject(new MongoNetworkError("lost")));
          return answer;
        },
      };
    });
    const ids = ["lost-1", "lost-2", "lost-3"];
    const keys = ids.map(() => newKey());
    const first = ids.map((id, index) => call(id, keys[index]));
    expect(await together(by, first)).toEqual(ids);
    expect(claims).toBe(2);
    expect(await together(store, first)).toEqual(ids.map((id) => `again ${id}`));
  });

  test("are refused, and run nothing, where the answer is lost again and again", async () => {
    const by = otherStore(() => ({ insertMany: () => Promise.reject(new MongoNetworkError("lost")) }));
    const lost = await together(by, [call("unclaimed-1"), call("unclaimed-2")]);
    expect(lost).toEqual(["lost", "lost"]);
    expect(await written("unclaimed-1", "unclaimed-2")).toEqual([]);
  });

  test("run once where two have the same key, and hurt no other", async () => {
    const key = newKey();
    const other = { ...key, bodyHash: body("b") };
    const calls = [call("same-1", key), call("same-2", key), call("same-3", other), call("beside")];
    const codes = ["same-1", "idempotency_conflict", "idempotency_mismatch", "beside"];
    expect(await together(store, calls)).toEqual(codes);
    expect(await written("same-1", "same-2", "same-3", "beside")).toEqual(["beside", "same-1"]);
  });

  test("run once where another process claims one of their keys at the same time", async () => {
    const key = newKey();
    const [claimed, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = otherStore((keys) => {
      const { insertMany } = keys;
      return {
        async insertMany(...args) {
          const answer = await insertMany.apply(keys, args);
          claimed.resolve();
          await answered.promise;
          return answer;
        },
      };
    });
    const ours = together(one, [call("ours-1"), call("ours-2", key)]);
    await claimed.promise;
    const theirs = [call("theirs-1", key), call("theirs-2")];
    expect(await together(store, theirs)).toEqual(["idempotency_conflict", "theirs-2"]);
    answered.resolve();
    expect(await ours).toEqual(["ours-1", "ours-2"]);
    expect(await written("ours-1", "ours-2", "theirs-1", "theirs-2")).toEqual(["ours-1", "ours-2", "theirs-2"]);
  });

  test("take over abandoned keys together, and each key once", async () => {
    const time = { ms: Date.now() };
    const instance = storeAt(time);
    const keys = [newKey(), newKey()];
    const running = keys.map(() => Promise.withResolvers<void>());
    keys.forEach((key, n) => {
      const run = () => {
        running[n]!.resolve();
        return new Promise<never>(() => undefined);
      };
      void instance.once({ ...call("unused", key), run });
    });
    await Promise.all(running.map(({ promise }) => promise));
    time.ms += LEASE_MS + 1;
    const heirs = [call("heir-1", keys[0]), call("heir-2", keys[1]), call("heir-3", keys[0])];
    expect(await together(instance, heirs)).toEqual(["heir-1", "heir-2", "idempotency_conflict"]);
    expect(await written("heir-1", "heir-2", "heir-3")).toEqual(["heir-1", "heir-2"]);
  });

  test("run where the database refuses the row of another", async () => {
    await db.command({ collMod: "idempotency_calls", validator: { path: { $ne: "/refused" } } });
    const refused = call("bad row", { ...newKey(), path: "/refused" });
    const results = await together(store, [call("good-1"), refused, call("good-2")]);
    await db.command({ collMod: "idempotency_calls", validator: {} });
    expect(results).toEqual(["good-1", 121, "good-2"]);
    expect(await written("good-1", "bad row", "good-2")).toEqual(["good-1", "good-2"]);
  });

  test("write their effects where one of them has lost its key", async () => {
    const time = { ms: Date.now() };
    const instance = storeAt(time);
    const commit = createGroupCommit<{ id: string; key: HeldKey | undefined }>({
      client,
      async write(session, items) {
        await effects.insertMany(
          items.map(({ id: _id }) => ({ _id })),
          { session },
        );
        await instance.complete(
          session,
          items.map(({ id: resourceId, key }) => ({ resourceId, key })),
        );
      },
    });
    const key = newKey();
    const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const goOn = Promise.withResolvers<void>();
    const sharing = (id: string, n: number, idempotency: Idempotency): IdempotentCall<string> => ({
      ...call(id, idempotency),
      async run(mine) {
        held[n]!.resolve();
        await goOn.promise;
        await commit({ id, key: mine });
        return id;
      },
    });
    const sharers = together(instance, [sharing("loses", 0, key), sharing("keeps", 1, newKey())]);
    await Promise.all(held.map(({ promise }) => promise));
    time.ms += LEASE_MS + 1;
    expect(await together(instance, [call("gains", key)])).toEqual(["gains"]);
    goOn.resolve();
    expect(await sharers).toEqual(["idempotency_conflict", "keeps"]);
    expect(await written("loses", "keeps", "gains")).toEqual(["gains", "keeps"]);
  });
});

test("keys expire after 24 hours, and migrating again changes nothing", async () => {
  await migrateIdempotency(db);
  const indexes = await db.collection("idempotency_calls").indexes();
  expect(indexes).toContainEqual(expect.objectContaining({ key: { created_at: 1 }, expireAfterSeconds: 86_400 }));
});
