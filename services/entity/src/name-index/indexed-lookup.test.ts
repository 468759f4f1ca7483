import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { silentLogger } from "@vvs/testing";
import { MongoClient, type Timestamp } from "mongodb";
import { normalizeName } from "../matching/names/normalize-name.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createFeed, type FollowFrom, type Position } from "./feed.ts";
import { type HostedIndex, hostMatchIndex } from "./host.ts";

const uri = process.env.MONGODB_URI!;
const opened: (() => Promise<unknown>)[] = [];

const app = await startTestApplication();
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function until<T>(what: string, read: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const endsAt = Date.now() + 45_000; Date.now() < endsAt; ) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`timed out waiting for ${what}`);
}

function hostIndex(options: { maxChanges?: number; maxOwnNames?: number } = {}, at = uri): HostedIndex {
  const index = hostMatchIndex({
    thread: {
      mongodb: { uri: at },
      databases: { live: app.databases.live.databaseName, sandbox: app.databases.sandbox.databaseName },
      ...options,
    },
    logger: silentLogger,
    now: () => new Date(),
  });
  opened.push(() => index.close());
  return index;
}

/** Starts an index and a server of the service that uses it. */
async function startIndexed(options: { maxChanges?: number; maxOwnNames?: number } = {}) {
  const index = hostIndex(options);
  const service = await app.serve({ ...app.rings, index });
  opened.push(() => service.stop());
  await until("the index", () => index.generation);
  return { index, gateway: service.gateway };
}

async function hits(index: HostedIndex, name: string, organizationId: string): Promise<string[]> {
  const query = { environment: "live", name: normalizeName(name), organizationId, limit: 10 } as const;
  // A search that takes too long has no answer.
  const found = await until("the answer of a search", () => index.search(query));
  return found.hits.filter(({ score }) => score > 0.8).map(({ id }) => id);
}

async function create(organization: string, legalName: string): Promise<string> {
  const { entity } = await app.gateway.createEntity({ caller: callerFor(organization), legalName, identifiers: {} });
  return entity!.id;
}

/** Writes registry entities in one batch, as a load does. */
async function addToRegistry(legalNames: readonly string[]): Promise<string[]> {
  const own = await Promise.all(legalNames.map((each) => create("org_template", each)));
  const written = await app.live.entities.find({ _id: { $in: own } }).toArray();
  const byName = new Map(written.map((entity) => [entity.legal_name, entity]));
  const listed = legalNames.map((each) => ({ ...byName.get(each)!, _id: newId("ent"), organization_id: null }));
  await app.live.entities.insertMany(listed);
  return listed.map(({ _id }) => _id);
}

/** A unique name. */
function newName(): string {
  const word = () => [...randomBytes(8)].map((byte) => String.fromCharCode(65 + (byte % 26))).join("");
  return `${word()} ${word()} LLC`;
}

test("an entity is found by name immediately after its creation, only by its organization", async () => {
  const { gateway } = await startIndexed();
  for (let count = 0; count < 10; count++) {
    const legalName = newName();
    const id = await create("org_fresh", legalName);
    const { entity } = await gateway.lookUp({ caller: callerFor("org_fresh"), legalName, fuzzy: true });
    expect(entity?.id ?? "candidates").toBe(id);
    const asked = gateway.lookUp({ caller: callerFor("org_other"), legalName, fuzzy: true });
    await expect(asked).rejects.toMatchObject({ code: "entity_not_found" });
  }
});

test("an identifier that an organization remembers is shown on an entity found by name, only to that organization", async () => {
  const { gateway } = await startIndexed();
  const [caller, other] = [callerFor("org_remembers", "sandbox"), callerFor("org_others", "sandbox")];
  const identifiers = { uei: "SANDBXACTVE1" };
  const { entity } = await gateway.lookUp({ caller, identifiers });
  await app.verification.resolveVendor({ caller, identifiers: { ...identifiers, duns: "500000009" } });
  const byName = { legalName: entity!.legalName, fuzzy: true };
  const seen = await gateway.lookUp({ caller, ...byName });
  expect(seen.entity).toMatchObject({ id: entity!.id, identifiers: { ...identifiers, duns: "500000009" } });
  const seenByOthers = await gateway.lookUp({ caller: other, ...byName });
  expect(seenByOthers.entity?.id).toBe(entity!.id);
  expect(Object.keys(seenByOthers.entity!.identifiers)).not.toContain("duns");
});

test("the index follows creations, changes and removals", async () => {
  const { index } = await startIndexed();
  const legalName = newName();
  const id = await create("org_follow", legalName);
  await until("the creation", async () => (await hits(index, legalName, "org_follow")).includes(id));
  expect(await hits(index, legalName, "org_other")).not.toContain(id);
  const renamed = newName();
  await app.live.entities.updateOne({ _id: id }, { $set: { legal_name: renamed } });
  await until("the change", async () => (await hits(index, renamed, "org_follow")).includes(id));
  expect(await hits(index, legalName, "org_follow")).not.toContain(id);
  await app.live.entities.deleteOne({ _id: id });
  await until("the removal", async () => !(await hits(index, renamed, "org_follow")).includes(id));
});

test("a new generation replaces the old one during searches, and no search fails", async () => {
  const { index, gateway } = await startIndexed();
  const legalName = newName();
  const id = await create("org_swap", legalName);
  let [running, asked] = [true, 0];
  const caller = callerFor("org_swap");
  const asking = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (running) {
        const { entity } = await gateway.lookUp({ caller, legalName, fuzzy: true });
        expect(entity?.id).toBe(id);
        asked++;
      }
    }),
  );
  for (let generation = 2; generation <= 3; generation++) {
    index.renew();
    await until("the next generation", () => index.generation === generation);
  }
  running = false;
  await asking;
  expect(asked).toBeGreaterThan(16);
});

test("registry entities that a full index skips are found with MongoDB's keys, then by a rebuilt index", async () => {
  const { index, gateway } = await startIndexed({ maxChanges: 3 });
  app.clock.now = new Date(Date.now() + 60_000);
  const names = Array.from({ length: 8 }, () => newName());
  const ids = await addToRegistry(names);
  const caller = callerFor("org_full");
  for (const [at, legalName] of names.entries()) {
    const found = () => gateway.lookUp({ caller, legalName, fuzzy: true }).catch(() => undefined);
    expect((await until(legalName, found)).entity?.id).toBe(ids[at]);
  }
  for (const [at, legalName] of names.entries()) {
    await until(legalName, async () => (await hits(index, legalName, "org_full"))[0] === ids[at]);
  }
  expect(index.generation).toBeGreaterThan(1);
});

test("a full index still takes an organization's own entities", async () => {
  const { index } = await startIndexed({ maxChanges: 0 });
  await until("an entity in an index that was not rebuilt", async () => {
    const { generation } = index;
    const legalName = newName();
    const id = await create("org_full", legalName);
    await until(legalName, async () => (await hits(index, legalName, "org_full")).includes(id));
    return index.generation === generation;
  });
});

describe("MongoDB's candidates and those of the index", () => {
  test("give the same answers on the same few entities", async () => {
    const { index, gateway } = await startIndexed();
    const organization = "org_same";
    const legalNames = [
      "Quarrystone Paving LLC",
      "North Fork Timber Inc",
      "Bluebird Analytics Corp",
      "Sandoval, Maria",
    ];
    const ids = await Promise.all(legalNames.map((each) => create(organization, each)));
    await until("the entities", async () => (await hits(index, legalNames[3]!, organization)).includes(ids[3]!));
    const asked = [
      "Quarystone Paving",
      "Northfork Timber",
      "Blue Bird Analytics",
      "Maria Sandoval",
      "Paving Quarrystone",
    ];
    for (const legalName of asked) {
      const answer = async (from: typeof gateway) => {
        const { entity, candidates } = await from.lookUp({ caller: callerFor(organization), legalName, fuzzy: true });
        return entity ? [entity.id] : candidates.map(({ id }) => id);
      };
      expect({ legalName, ids: await answer(gateway) }).toEqual({ legalName, ids: await answer(app.gateway) });
    }
  });
});

test("the entities read are at least as new as the time from which changes are followed", async () => {
  const client = await new MongoClient(uri, { readConcern: { level: "majority" }, monitorCommands: true }).connect();
  opened.push(() => client.close());
  const reads: { afterClusterTime?: Timestamp }[] = [];
  client.on("commandStarted", ({ commandName, command }) => {
    if (commandName === "find") reads.push(command.readConcern);
  });
  const since = await createFeed(client.db(app.databases.live.databaseName), () => new Date()).readAll(
    () => undefined,
    0,
  );
  expect(reads).toHaveLength(2);
  for (const { afterClusterTime } of reads) expect(afterClusterTime!.greaterThanOrEqual(since)).toBe(true);
});

test("after an interruption, changes are followed from the last position", async () => {
  const client = await new MongoClient(uri, { readConcern: { level: "majority" } }).connect();
  opened.push(() => client.close());
  const databaseTime = new Date("2020-01-01");
  const feed = createFeed(client.db(app.databases.live.databaseName), () => databaseTime);
  const seen: string[] = [];
  const followUntil = async (from: FollowFrom, isLast: (position: Position) => boolean) => {
    for await (const position of feed.follow(from)) {
      if (position.change && "entity" in position.change) seen.push(position.change.entity.id);
      if (isLast(position)) return { resumeAfter: position.resumeAfter };
    }
    throw new Error("the changes ended");
  };
  const since = await feed.readAll(() => undefined, 0);
  const first = await create("org_resume", newName());
  const isWithoutChange = ({ completeUntil }: Position) => completeUntil === databaseTime.getTime();
  const position = await followUntil({ since }, (each) => seen.includes(first) && isWithoutChange(each));
  const second = await create("org_resume", newName());
  await followUntil(position, () => seen.includes(second));
  expect(seen.filter((id) => id === first)).toHaveLength(1);
});

test("an organization with more names than its share is kept out of the index beyond it, and its entities are still found", async () => {
  const before = await Promise.all([newName(), newName()].map(async (name) => [await create("org_much", name), name]));
  const { index, gateway } = await startIndexed({ maxOwnNames: 2 });
  const later = await Promise.all([newName(), newName()].map(async (name) => [await create("org_much", name), name]));
  const other = newName();
  const otherId = await create("org_little", other);
  await until("the other organization's name", async () => (await hits(index, other, "org_little")).includes(otherId));
  for (const [id, name] of later) expect(await hits(index, name!, "org_much")).not.toContain(id);
  app.clock.now = new Date(Date.now() + 60_000); // own entities of the last seconds are read from MongoDB in any case
  for (const [id, name] of [...before, ...later]) {
    const found = await gateway.lookUp({ caller: callerFor("org_much"), legalName: name!, fuzzy: true });
    expect(found.entity?.id).toBe(id);
  }
  app.clock.now = new Date();
});

test("whoever waits for the index goes on when it is there, and without it after a time or at a stop", async () => {
  const never = new AbortController().signal;
  const silent = hostIndex({}, "mongodb://127.0.0.1:1/?directConnection=true");
  expect(await silent.whenReady(1, never)).toBe(false);
  expect(await silent.whenReady(3_600_000, AbortSignal.abort())).toBe(false);
  const index = hostIndex();
  expect(await index.whenReady(3_600_000, never)).toBe(true);
  expect(index.generation).toBe(1);
  expect(await index.whenReady(0, never)).toBe(true);
});
