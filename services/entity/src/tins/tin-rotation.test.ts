import { describe, expect, test } from "@jest/globals";
import type { Environment } from "@vvs/tenant";
import { collectionsOf } from "../model/documents.ts";
import {
  callerFor,
  revealedTin,
  secretKey,
  startTestApplication,
  subjectOf,
  type TinRings,
} from "../testing/application.ts";
import { pausingCommit } from "../testing/loads.ts";
import { createFingerprintKeys } from "./tin-fingerprints.ts";
import { type RotationReport, rotateTins } from "./tin-rotation.ts";
import { createTinVault } from "./tins.ts";

const old = { tin: secretKey("t1"), hash: secretKey("h1") };
const young = { tin: secretKey("t2"), hash: secretKey("h2") };
const before: TinRings = { tinKeys: [old.tin], tinHashKeys: [old.hash] };
const during: TinRings = { tinKeys: [young.tin, old.tin], tinHashKeys: [young.hash, old.hash] };
const learned: TinRings = { tinKeys: [old.tin, young.tin], tinHashKeys: [old.hash, young.hash] };
const after: TinRings = { tinKeys: [young.tin], tinHashKeys: [young.hash] };

const app = await startTestApplication({ rings: before });

const serve = (rings: TinRings, client = app.client) => app.serve({ ...rings, client });
type Served = Awaited<ReturnType<typeof serve>>;

function rotate(environment: Environment, options: { batchSize?: number; stopping?: AbortSignal } = {}) {
  const collections = { live: collectionsOf(app.databases.live), sandbox: collectionsOf(app.databases.sandbox) };
  const sealingKeys = during.tinKeys;
  const fingerprintKeys = createFingerprintKeys({ collections, sealingKeys });
  const faults: string[] = [];
  return rotateTins({
    collections: collections[environment],
    environment,
    tins: createTinVault({ sealingKeys, hashKeys: during.tinHashKeys, fingerprintKeys }),
    sealingKeys,
    batchSize: options.batchSize ?? 7,
    stopping: options.stopping ?? new AbortController().signal,
    onFault: (collection, id, fault) => faults.push(`${collection} ${id}: ${fault}`),
  }).then((report) => ({ report, faults }));
}

const left = (report: RotationReport) => Object.values(report).reduce((sum, count) => sum + count.left, 0);
const address = { line1: "12 Oak St", line2: "Suite 4", city: "Asheville", state: "NC", zip: "28801", country: "USA" };
const tinOf = (index: number) => String(471_000_000 + index);

/** Creates own entities in each way, and remembers a TIN of a registry entity; returns how to find each again. */
async function store(organizationId: string, environment: Environment, first: number) {
  const caller = callerFor(organizationId, environment);
  const tins = new Map<string, string>();
  const contents = [];
  for (let index = first; index < first + 10; index++) {
    const content = { caller, legalName: `Vendor ${index} LLC`, identifiers: { tin: tinOf(index) }, address };
    const { entity } = await app.gateway.createEntity(content);
    tins.set(tinOf(index), entity!.id);
    contents.push({ ...content, entityId: entity!.id });
  }
  for (let index = first + 10; index < first + 20; index++) {
    const { entityId } = await app.verification.resolveVendor({ caller, identifiers: { tin: tinOf(index) } });
    tins.set(tinOf(index), entityId);
  }
  const late = { caller, legalName: `Late ${first} Inc`, identifiers: { duns: tinOf(first + 500) } };
  const { entity } = await app.gateway.createEntity(late);
  await app.verification.resolveVendor({ caller, identifiers: { ...late.identifiers, tin: tinOf(first + 20) } });
  tins.set(tinOf(first + 20), entity!.id);
  contents.push({ ...late, entityId: entity!.id });
  if (environment === "sandbox") {
    const identifiers = { uei: "SANDBXACTVE1", tin: tinOf(first + 21) };
    tins.set(identifiers.tin, (await app.verification.resolveVendor({ caller, identifiers })).entityId);
  }
  return { caller, tins, contents };
}
type Stored = Awaited<ReturnType<typeof store>>;

async function fingerprints({ caller, tins }: Stored, by: Pick<Served, "verification">): Promise<string[]> {
  const subjects = await Promise.all(
    [...tins.values()].map((entityId) => subjectOf(by.verification, caller, entityId)),
  );
  return subjects.map(({ tinHash }) => Buffer.from(tinHash).toString("hex"));
}

/** Expects that each TIN opens and still names its entity, and that no content creates a second entity. */
async function expectKnown({ caller, tins, contents }: Stored, by: Pick<Served, "gateway" | "verification">) {
  for (const [tin, entityId] of tins) {
    expect((await by.gateway.lookUp({ caller, identifiers: { tin } })).entity!.id).toBe(entityId);
    expect(await revealedTin(by.verification, caller, entityId)).toBe(tin);
    expect(await by.verification.resolveVendor({ caller, identifiers: { tin } })).toMatchObject({
      entityId,
      created: false,
    });
  }
  for (const { entityId, ...content } of contents) {
    expect((await by.gateway.createEntity(content)).entity!.id).toBe(entityId);
  }
}

describe("a rotation of both rings", () => {
  let live: Stored;
  let sandbox: Stored;
  let known: string[];
  let now: Served;
  let twin = "";
  const nameless = { caller: callerFor("org_races"), legalName: "Nameless Twins LLC", address };

  test("with new first keys everything still opens and is found, with the same fingerprints", async () => {
    live = await store("org_rotates", "live", 100);
    sandbox = await store("org_rotates", "sandbox", 200);
    known = [...(await fingerprints(live, app)), ...(await fingerprints(sandbox, app))];
    expect(new Set(known).size).toBe(known.length);
    now = await serve(during);
    await expectKnown(live, now);
    await expectKnown(sandbox, now);
  });

  test("two processes with different first keys create one entity for one new TIN at the same time", async () => {
    const learning = await serve(learned);
    const caller = callerFor("org_races");
    for (let index = 0; index < 10; index++) {
      const identifiers = { tin: tinOf(300 + index) };
      const made = await Promise.all(
        [now, learning, now, learning].map((by) => by.verification.resolveVendor({ caller, identifiers })),
      );
      expect(new Set(made.map(({ entityId }) => entityId)).size).toBe(1);
    }
  });

  test("two processes with different first keys create one entity for one content without identifiers", async () => {
    const { client, committing, abort, retry } = pausingCommit(app.client);
    const first = (await serve(during, client)).gateway.createEntity(nameless);
    await committing;
    await abort();
    const { entity } = await (await serve(learned)).gateway.createEntity(nameless);
    retry();
    twin = entity!.id;
    expect((await first).entity!.id).toBe(twin);
  });

  test("after an interruption it continues where it was, and everything is found in between", async () => {
    const stop = new AbortController();
    stop.abort();
    const nothing = await rotate("live", { stopping: stop.signal });
    expect(left(nothing.report)).toBeGreaterThan(0);
    expect(nothing.report.carried.renewed).toBe(0);

    const all = await app.live.carriedTins.countDocuments({ hash_key_id: "h1" });
    const half = new AbortController();
    const rotation = rotate("live", { batchSize: 3, stopping: half.signal });
    while ((await app.live.carriedTins.countDocuments({ hash_key_id: "h1" })) === all) await Promise.resolve();
    half.abort();
    const { report } = await rotation;
    await expectKnown(live, now);
    expect(left(report)).toBeGreaterThan(0);
    const rest = await rotate("live");
    expect(rest.faults).toEqual([]);
    expect(left(rest.report)).toBe(0);
    expect(report.carried.renewed + rest.report.carried.renewed).toBe(all);
    expect(left((await rotate("live")).report)).toBe(0);
  });

  test("while the service is in use nothing is lost, duplicated or refused", async () => {
    const done = new AbortController();
    const use = (async () => {
      while (!done.signal.aborted) await expectKnown(sandbox, now);
    })();
    const { report, faults } = await rotate("sandbox", { batchSize: 1 });
    done.abort();
    await use;
    expect(faults).toEqual([]);
    expect(left(report)).toBe(0);
    expect(report).toMatchObject({
      fingerprintKeys: { renewed: 1 },
      carried: { renewed: 21 },
      remembered: { renewed: 1 },
      contents: { renewed: 11 },
    });
  });

  test("without the old keys every TIN still opens, is found, and keeps its fingerprint", async () => {
    const young = await serve(after);
    await expectKnown(live, young);
    await expectKnown(sandbox, young);
    expect((await young.gateway.createEntity(nameless)).entity!.id).toBe(twin);
    expect(await app.live.entities.findOne({ _id: twin })).toMatchObject({ content_hash: [{}] });
    expect([...(await fingerprints(live, young)), ...(await fingerprints(sandbox, young))]).toEqual(known);
  });
});

describe("a fingerprint", () => {
  const uei = "SANDBXEXPRD1";

  test("is the same for a TIN that was replaced and is supplied again under other keys", async () => {
    const caller = callerFor("org_replaces", "sandbox");
    const supply = async (by: Pick<Served, "verification">, tin: string) => {
      const { entityId } = await by.verification.resolveVendor({ caller, identifiers: { uei, tin }, checksTin: true });
      const { tinHash } = await subjectOf(by.verification, caller, entityId);
      return Buffer.from(tinHash).toString("hex");
    };
    const first = await supply(app, tinOf(400));
    const by = await serve(during);
    const second = await supply(by, tinOf(401));
    await rotate("sandbox");
    const last = await serve(after);
    expect(await supply(last, tinOf(401))).toBe(second);
    expect(second).not.toBe(first);
    expect(await supply(last, tinOf(400))).toBe(first);
  });

  test("differs between organizations and environments", async () => {
    const seen = new Set<string>();
    for (const caller of [callerFor("org_x"), callerFor("org_y"), callerFor("org_x", "sandbox")]) {
      const { entityId } = await app.verification.resolveVendor({ caller, identifiers: { tin: tinOf(410) } });
      const { tinHash } = await subjectOf(app.verification, caller, entityId);
      seen.add(Buffer.from(tinHash).toString("hex"));
    }
    expect(seen.size).toBe(3);
  });
});

test("a TIN that can't be renewed is reported by its id, and does not stop the rotation", async () => {
  const caller = callerFor("org_broken");
  const { entityId } = await app.verification.resolveVendor({ caller, identifiers: { tin: tinOf(430) } });
  await app.live.carriedTins.updateOne({ _id: entityId }, { $set: { "sealed.key_id": "lost" } });
  const { report, faults } = await rotate("live");
  expect(faults).toEqual([`entity_identifiers ${entityId}: the ring has no key lost`]);
  expect(report.carried.left).toBe(1);
});
