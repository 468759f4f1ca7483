import { beforeEach, describe, expect, test } from "@jest/globals";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { callerFor, registryRecordOf, startTestApplication } from "../testing/application.ts";
import { createLoads, killedAt, type LoadOverrides, pausingTransaction } from "../testing/loads.ts";
import { findLoad } from "./change-log.ts";
import { printLoads, printWithdrawal } from "./load-reports.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(() => loads.clear());

const caller = callerFor("org_load");
const [uei, other, third] = ["ABCDEFGHJK51", "ABCDEFGHJK52", "ABCDEFGHJK53"] as const;
const cage = "9ZZZ9";

/** A good file, and a later bad one that changes, adds, keeps and lacks rows. */
const kinds = {
  registry: {
    good: () => loads.load([{ 1: uei }, { 1: other }, { 1: "ABCDEFGHJK54", 3: "5ABC4" }]),
    bad: (options: LoadOverrides = {}) =>
      loads.load(
        [{ 1: uei, 9: "20200101", 12: "BAD LLC" }, { 1: third }, { 1: "ABCDEFGHJK54", 3: "5ABC4" }, { 1: "x" }],
        { day: "13", ...options },
      ),
    newest: () => loads.load([{ 1: uei }], { day: "20" }),
  },
  exclusions: {
    good: () => loads.exclude([{ uei }, { uei: other, until: "2030-01-01" }, { cage }]),
    bad: (options: LoadOverrides = {}) =>
      loads.exclude([{ uei: other, until: "2031-01-01" }, { uei: third }, { cage }], "2026-02-10", options),
    newest: () => loads.exclude([{ uei }], "2026-03-10"),
  },
};
type Kind = keyof typeof kinds;

/** Loads both good files, and creates an own entity that takes over a registry entity. */
async function prepare() {
  await loads.clear();
  await app.databases.live.collection("idempotency_keys").deleteMany({});
  await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
  await kinds.registry.good();
  await kinds.exclusions.good();
}

/** Returns all entities and exclusions, without versions, times of changes and which CAGEs are new. */
async function known() {
  const entities = await app.live.entities.find({ sam: { $exists: true } }).toArray();
  const facts = entities.map(({ version, revision, last_hash, changed_at, own_changed_at, other_names, ...rest }) => {
    const { name_keys, candidate_keys, match_version, address_keys, new_cages, ...shown } = rest;
    return { ...shown, sources: rest.sources.map(({ name, version }) => ({ name, version })) };
  });
  const byId = (a: { _id: string }, b: { _id: string }) => (a._id < b._id ? -1 : 1);
  return { entities: facts.sort(byId), exclusions: (await app.live.exclusions.find().toArray()).sort(byId) };
}

async function records() {
  const asked = [{ uei }, { uei: other }, { uei: third }, { cage }];
  const all = await Promise.all(asked.map((one) => registryRecordOf(app.verification, one)));
  return all.map(({ withdrawnLoads, ...rest }) => rest);
}

/** Expects each record as before the withdrawn load, or without a known registration. */
async function expectNothingOfIt(before: Awaited<ReturnType<typeof records>>) {
  for (const [index, record] of (await records()).entries()) {
    const { record: row, registryCutDate, registryFile, registryLoad, ...exclusions } = record;
    if (row || registryCutDate) expect(record).toEqual(before[index]);
    else expect(before[index]).toMatchObject(exclusions);
  }
}

describe.each(Object.keys(kinds) as Kind[])("a withdrawn load of the kind %s", (kind) => {
  const { good, bad, newest } = kinds[kind];

  test("names the file to load next, also one whose load was killed", async () => {
    await prepare();
    const killed = await bad();
    await app.live.loads.updateOne({ _id: killed.loadId }, { $set: { state: "running" }, $unset: { finished_at: "" } });
    const { loadId } = await newest();
    expect((await loads.withdraw(loadId)).previous).toMatchObject({ _id: killed.loadId });
  });

  test("leaves everything as before once the previous file is loaded again, even if the withdrawal was killed at any point", async () => {
    await prepare();
    const { loadId } = await bad();
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    await loads.withdraw(loadId, undisturbed.given);
    expect(undisturbed.transactions()).toBeGreaterThan(2);
    for (let number = 0; number < undisturbed.transactions(); number++) {
      await prepare();
      const [before, recordsBefore] = [await known(), await records()];
      await bad();
      const goOn = await killedAt(app, number, (given) => loads.withdraw(loadId, given));
      await loads.expireLock();
      if (number > 0) {
        await expectNothingOfIt(recordsBefore);
        await expect(good()).rejects.toThrow(/not finished. Run this again: withdraw/);
      }
      const { previous } = await loads.withdraw(loadId);
      expect(await goOn()).toMatch(/another load took over/);
      expect(previous).toMatchObject({ kind, state: "done" });
      await expectNothingOfIt(recordsBefore);
      app.clock.now = new Date(app.clock.now.getTime() + 1);
      await expect(bad()).rejects.toThrow(/was withdrawn .*\(wrong month\): it is not loaded again/);
      expect((await good()).isOlder).toBe(false);
      expect(await known()).toEqual(before);
      expect(await records()).toEqual(recordsBefore);
      expect(await app.live.loadLocks.countDocuments()).toBe(0);
    }
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  });

  test("gets no more writes from its stalled loader, at any point of the load", async () => {
    await prepare();
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    const { loadId } = await bad(undisturbed.given);
    for (let number = 1; number < undisturbed.transactions(); number++) {
      await prepare();
      const [before, recordsBefore] = [await known(), await records()];
      const stalled = pausingTransaction(app, number);
      const loading = bad(stalled.given).catch((error: unknown) => error);
      await stalled.beginning;
      await expect(loads.withdraw(loadId)).rejects.toThrow(/is being loaded now .* end that first/);
      await loads.expireLock();
      stalled.begin();
      await stalled.committing;
      await loads.withdraw(loadId);
      stalled.commit();
      expect(String(await loading)).toMatch(/another load took over/);
      await expectNothingOfIt(recordsBefore);
      app.clock.now = new Date(app.clock.now.getTime() + 1);
      await good();
      expect(await known()).toEqual(before);
    }
  });

  test("must be the newest: an older one, an unknown one and a withdrawn one are refused", async () => {
    const { loadId: older } = await good();
    const { loadId } = await bad();
    await expect(loads.withdraw(older)).rejects.toThrow(/was loaded after .* Withdraw that one first: withdraw /);
    await expect(loads.withdraw("registry:none")).rejects.toThrow("There is no load registry:none");
    await loads.withdraw(loadId);
    await expect(loads.withdraw(loadId)).rejects.toThrow(/was withdrawn already, .* by jo@host: wrong month/);
    await loads.withdraw(older);
    expect(await app.live.exclusions.countDocuments()).toBe(0);
    expect(await app.live.entities.countDocuments({ listed: true })).toBe(0);
    expect(await app.live.entities.countDocuments({ sources: [] })).toBe(0);
  });
});

describe("a CAGE of a withdrawn load of an extract", () => {
  const statusOf = async (identifiers: Record<string, string>) =>
    (await app.gateway.lookUp({ caller, identifiers })).entity!.samGov!.registrationStatus;
  const formerCages = async () =>
    (await app.live.entities.find({ "identifiers.uei": uei }).toArray()).map(({ former_cages }) => former_cages);

  test.each([
    ["a registry entity", false],
    ["an own entity", true],
  ])("is gone with it if no earlier load gave it: %s", async (_name, isOwn) => {
    if (isOwn) await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
    const good = (day: string) =>
      loads.load(
        [
          { 1: uei, 4: "1AAA1" },
          { 1: other, 4: cage },
        ],
        { day },
      );
    await good("06");
    await loads.exclude([{ cage }]);
    const { loadId } = await loads.load(
      [
        { 1: uei, 4: cage },
        { 1: uei, 3: "0002", 4: "2BBB2" },
      ],
      { day: "13" },
    );
    expect(await statusOf({ uei })).toBe("debarred");
    const stalled = pausingTransaction(app, 1);
    const withdrawing = loads.withdraw(loadId, stalled.given);
    await stalled.beginning;
    const exclusions = async () => (await registryRecordOf(app.verification, { uei })).exclusions;
    expect(await exclusions()).toEqual([]);
    stalled.begin();
    stalled.commit();
    await withdrawing;
    expect(await exclusions()).toEqual([]);
    expect(await statusOf({ uei })).toBe("active");
    await expect(statusOf({ cage: "2BBB2" })).rejects.toMatchObject({ code: "entity_not_found" });
    expect(await statusOf({ cage })).toBe("debarred");
    await good("14");
    expect([await statusOf({ uei }), await statusOf({ uei: other })]).toEqual(["active", "debarred"]);
    for (const former of await formerCages()) expect(former).toBeUndefined();
  });

  test("stays if an earlier load or the organization gave it", async () => {
    const owner = callerFor("org_cage");
    await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
    await app.gateway.createEntity({ caller: owner, legalName: "Own", identifiers: { cage: "2BBB2" } });
    const entityId = async () =>
      (await app.gateway.lookUp({ caller: owner, identifiers: { cage: "2BBB2" } })).entity!.id;
    const ownId = await entityId();
    await loads.load([{ 1: uei, 4: "1AAA1" }]);
    const rows: Record<number, string>[] = [
      { 1: uei, 4: "1AAA1", 12: "BAD LLC" },
      { 1: other, 4: "2BBB2" },
    ];
    const { loadId } = await loads.load(rows, { day: "13" });
    await loads.withdraw(loadId);
    expect(await entityId()).toBe(ownId);
    await loads.load([{ 1: uei, 4: "3CCC3" }], { day: "14" });
    expect(await formerCages()).toEqual([["1AAA1"], ["1AAA1"]]);
  });
});

describe("after a withdrawal an entity is shown as the newest load that counts says", () => {
  const good = { 1: uei, 4: "1AAA1", 12: "GOOD LLC" };
  const seen = async () => (await app.gateway.lookUp({ caller, identifiers: { uei } })).entity!;
  const listed = { 1: other };

  test.each<[string, Record<number, string>[][]]>([
    ["of which the withdrawn load changed the row", [[good], [{ ...good, 4: cage, 9: "20200101", 12: "BAD LLC" }]]],
    ["which only the withdrawn load lacked", [[good, listed], [listed]]],
    ["which only the withdrawn load listed again", [[good, listed], [listed], [good, listed]]],
    [
      "which the withdrawn load listed again with another row",
      [[good, listed], [listed], [{ ...good, 12: "BAD LLC" }, listed]],
    ],
  ])("%s", async (_name, files) => {
    for (const isOwn of [false, true]) {
      await loads.clear();
      await app.databases.live.collection("idempotency_keys").deleteMany({});
      if (isOwn) await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
      const days: { loadId: string; before: unknown; record: unknown }[] = [];
      for (const [index, rows] of files.entries()) {
        const [before] = index > 0 ? [await seen()] : [];
        const { withdrawnLoads, ...record } = await registryRecordOf(app.verification, { uei });
        const { loadId } = await loads.load(rows, { day: `1${index}`, acceptFewer: true });
        days.push({ loadId, before, record });
      }
      for (const { loadId, before, record } of days.slice(1).toReversed()) {
        expect(await seen()).not.toEqual(before);
        await loads.withdraw(loadId);
        expect(await seen()).toEqual(before);
        expect(await registryRecordOf(app.verification, { uei })).toMatchObject(record as object);
      }
      expect((await seen()).samGov!.registrationStatus).toBe("active");
      expect((await seen()).legalName).toBe("GOOD LLC");
      expect(await app.live.entities.countDocuments({ listed: false })).toBe(0);
    }
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  });

  test("by the CAGE of the row before, if no other own entity took it meanwhile", async () => {
    for (const isTaken of [false, true]) {
      await loads.clear();
      await app.databases.live.collection("idempotency_keys").deleteMany({});
      const own = (await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } })).entity!;
      await loads.load([good]);
      const { loadId } = await loads.load([{ ...good, 4: cage }], { day: "13" });
      const request = { caller, legalName: "Other", identifiers: { cage: "1AAA1" } };
      const taker = isTaken ? (await app.gateway.createEntity(request)).entity! : own;
      await loads.withdraw(loadId);
      expect((await seen()).identifiers).toEqual(isTaken ? { uei } : { uei, cage: "1AAA1" });
      const carriers = await app.live.entities.find({ claims: "cage:1AAA1" }).toArray();
      expect(carriers.map(({ _id }) => _id)).toEqual([taker.id]);
    }
  });
});

describe("an own entity that took a registry entity over in a withdrawn load is again what the organization made it", () => {
  const bad = { 1: uei, 4: cage, 12: "BAD LLC" };
  const address = { type: "physical", line1: "1 Own St", city: "Duluth", state: "MN", zip: "55802", country: "USA" };
  const create = async (identifiers: Record<string, string>, legalName?: string) =>
    (await app.gateway.createEntity({ caller, legalName, identifiers, address })).entity!;
  const seen = async (entityId: string) => (await app.gateway.getEntity({ caller, entityId })).entity!;
  const load = async (day: string, ...rows: Record<number, string>[]) => (await loads.load(rows, { day })).loadId;
  beforeEach(() => app.databases.live.collection("idempotency_keys").deleteMany({}));

  test.each<[string, Record<string, string>]>([
    ["by its UEI", { uei }],
    ["by its UEI, although it has another CAGE", { uei, cage: "1AAA1" }],
    ["by its CAGE", { cage }],
  ])("%s", async (_name, identifiers) => {
    const own = await create(identifiers, "Own");
    const loadId = await load("06", bad);
    expect(await seen(own.id)).toMatchObject({ legalName: "BAD LLC", identifiers: { uei, cage } });
    await loads.withdraw(loadId);
    expect(await seen(own.id)).toEqual(own);
    await load("13", { ...bad, 12: "GOOD LLC" });
    expect(await seen(own.id)).toMatchObject({ legalName: "GOOD LLC", identifiers: { uei, cage } });
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  });

  test("also where an earlier file has another row of that registry entity", async () => {
    const own = await create({ cage }, "Own");
    await load("06", { 1: uei, 4: "1AAA1" });
    const loadId = await load("13", bad);
    expect((await seen(own.id)).identifiers).toMatchObject({ uei });
    await loads.withdraw(loadId);
    expect(await seen(own.id)).toEqual(own);
    const { entity: registry } = await app.gateway.lookUp({ caller, identifiers: { uei } });
    expect(registry).toMatchObject({ identifiers: { uei, cage: "1AAA1" } });
    expect(registry!.id).not.toBe(own.id);
    expect(await app.live.vendors.countDocuments({ taken_by: own.id })).toBe(0);
  });

  test("and takes over the registry entity that the next file gives its CAGE", async () => {
    const own = await create({ cage }, "Own");
    await loads.withdraw(await load("06", bad));
    await load("13", { 1: uei, 4: "1AAA1" }, { 1: other, 4: cage });
    expect((await seen(own.id)).identifiers).toEqual({ uei: other, cage });
  });

  test("with what it was given since, and without a CAGE that another own entity took since", async () => {
    const own = await create({ uei, cage: "1AAA1" }, "Own");
    const loadId = await load("06", bad);
    await app.verification.resolveVendor({ caller, identifiers: { uei, duns: "123456780" }, legalName: "" });
    const taker = await create({ cage: "1AAA1" }, "Other");
    await loads.withdraw(loadId);
    expect((await seen(own.id)).identifiers).toEqual({ uei, duns: "123456780" });
    expect((await seen(taker.id)).identifiers).toEqual({ cage: "1AAA1" });
  });
});

test("a withdrawal is listed with who, when and why, and prints what to do next, also after its file was refused", async () => {
  await kinds.exclusions.good();
  const { loadId, fileName } = await kinds.exclusions.bad();
  app.clock.now = new Date(app.clock.now.getTime() + 1);
  await expect(loads.exclude([{ uei: "x" }], "2026-02-10")).rejects.toThrow(fileName);
  const lines: string[] = [];
  printWithdrawal(await loads.withdraw((await findLoad(app.live, fileName))._id), (line) => lines.push(line));
  expect(lines).toEqual([
    "withdrawn exclusions exclusions_26041.csv (2026-02-10): rows 4, entities 0, names 0",
    "load the previous file again: exclusions_26010.csv (2026-01-10), or a newer one: npm run registry -- load --exclusions FILE",
  ]);
  const listed: string[] = [];
  await printLoads(app.live, (line) => listed.push(line));
  const line = listed.find((one) => one.startsWith(loadId));
  expect(line).toContain("\twithdrawn\t");
  expect(line).toContain(`\t${app.clock.now.toISOString()} by jo@host: wrong month`);
});

test("changes of several loads can be withdrawn one after another", async () => {
  await loads.exclude([{ uei, until: "2030-01-01" }], "2026-01-10");
  const first = await app.live.exclusions.findOne();
  const days = ["2026-01-11", "2026-01-12", "2026-01-13"];
  const ids: string[] = [];
  for (const day of days) ids.push((await loads.exclude([{ uei, until: day.replace("26", "31") }], day)).loadId);
  for (const id of ids.toReversed()) await loads.withdraw(id);
  expect(await app.live.exclusions.find().toArray()).toEqual([first]);
});
