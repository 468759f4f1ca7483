import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { MongoClient, type Timestamp } from "mongodb";
import { normalizeName } from "../matching/names/normalize-name.ts";
import { callerFor, startTestApplication, type TestApplication } from "../testing/application.ts";
import { createFeed } from "./feed.ts";
import { type HostedIndex, hostMatchIndex } from "./host.ts";

const uri = process.env.MONGODB_URI!;
let app: TestApplication;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  app = await startTestApplication(uri);
});
afterAll(() => app.stop());
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function until<T>(what: string, read: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const endsAt = Date.now() + 45_000; Date.now() < endsAt; ) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** An index beside the service, and a process of the service that searches in it. */
async function startIndexed(options: { maxChanges?: number } = {}) {
  const index = hostMatchIndex({
    thread: {
      mongodbUri: uri,
      databases: { live: app.databases.live.databaseName, sandbox: app.databases.sandbox.databaseName },
      ...options,
    },
    logger: createLogger({ service: "entity-test", level: "silent" }),
    now: () => new Date(),
  });
  opened.push(() => index.close());
  const service = await app.serve({ ...app.rings, index });
  opened.push(() => service.stop());
  await until("the index", () => index.generation);
  return { index, gateway: service.gateway };
}

const hits = async (index: HostedIndex, name: string, organizationId: string) =>
  (await index.search({ environment: "live", name: normalizeName(name), organizationId, limit: 10 }))?.hits
    .filter(({ score }) => score > 0.8)
    .map(({ id }) => id);

async function create(organization: string, legalName: string): Promise<string> {
  const { entity } = await app.gateway.createEntity({ caller: callerFor(organization), legalName, identifiers: {} });
  return entity!.id;
}

/** Entities as a load writes them, all at once. */
async function addToRegistry(legalNames: readonly string[]): Promise<string[]> {
  const own = await Promise.all(legalNames.map((each) => create("org_template", each)));
  const written = await app.live.entities.find({ _id: { $in: own } }).toArray();
  const byName = new Map(written.map((entity) => [entity.legal_name, entity]));
  const listed = legalNames.map((each) => ({ ...byName.get(each)!, _id: newId("ent"), organization_id: null }));
  await app.live.entities.insertMany(listed);
  return listed.map(({ _id }) => _id);
}

/** A name like no other. */
function newName(): string {
  const word = () => [...randomBytes(8)].map((byte) => String.fromCharCode(65 + (byte % 26))).join("");
  return `${word()} ${word()} LLC`;
}

test("an entity is found by name as soon as its creation is answered, by its organization alone", async () => {
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

test("what an organization remembers of a registry entity is shown where that is found by name, to it alone", async () => {
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

test("the index follows what changes, and takes up a change that came while it was built", async () => {
  const { index } = await startIndexed();
  const legalName = newName();
  const id = await create("org_follow", legalName);
  await until("the creation", async () => (await hits(index, legalName, "org_follow"))?.includes(id));
  expect(await hits(index, legalName, "org_other")).not.toContain(id);
  const renamed = newName();
  await app.live.entities.updateOne({ _id: id }, { $set: { legal_name: renamed } });
  await until("the change", async () => (await hits(index, renamed, "org_follow"))?.includes(id));
  expect(await hits(index, legalName, "org_follow")).not.toContain(id);
  await app.live.entities.deleteOne({ _id: id });
  await until("the removal", async () => !(await hits(index, renamed, "org_follow"))?.includes(id));
});

test("a new generation takes the place of the old one while searches go on, and none is lost", async () => {
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

test("registry entities beyond what the index takes in are found by MongoDB, and then by an index built anew", async () => {
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
    await until(legalName, async () => (await hits(index, legalName, "org_full"))?.[0] === ids[at]);
  }
  expect(index.generation).toBeGreaterThan(1);
});

test("an organization's own entities are taken in also where no more of the registry's are", async () => {
  const { index } = await startIndexed({ maxChanges: 0 });
  await until("an entity that came into an index without its being built anew", async () => {
    const { generation } = index;
    const legalName = newName();
    const id = await create("org_full", legalName);
    await until(legalName, async () => (await hits(index, legalName, "org_full"))?.includes(id));
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
    await until("the entities", async () => (await hits(index, legalNames[3]!, organization))?.includes(ids[3]!));
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

test("what is read is at least as new as the moment that changes are followed from", async () => {
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

test("changes are followed on from where they were, after the connection was lost", async () => {
  const client = await new MongoClient(uri, { readConcern: { level: "majority" } }).connect();
  opened.push(() => client.close());
  const databaseTime = new Date("2020-01-01");
  const feed = createFeed(client.db(app.databases.live.databaseName), () => databaseTime);
  const positions: number[] = [];
  const told: string[] = [];
  let resumeAfter: unknown;
  const followFrom = (from: Parameters<typeof feed.follow>[0]["from"]) => {
    const stop = new AbortController();
    const following = feed.follow({
      from,
      tell: (change) => "entity" in change && told.push(change.entity.id),
      onPosition: (completeUntil, token) => {
        positions.push(completeUntil);
        resumeAfter = token;
      },
      signal: stop.signal,
    });
    return async () => {
      stop.abort();
      await following;
    };
  };
  const stopFirst = followFrom({ since: await feed.readAll(() => undefined, 0) });
  const first = await create("org_resume", newName());
  await until("the first change", () => told.includes(first));
  await until("a position without a change", () => positions.includes(databaseTime.getTime()));
  await stopFirst();
  const second = await create("org_resume", newName());
  const stopSecond = followFrom({ resumeAfter });
  await until("the change in between", () => told.includes(second));
  await stopSecond();
  expect(told.filter((id) => id === first)).toHaveLength(1);
});
