import { beforeEach, describe, expect, test } from "@jest/globals";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { callerFor, registryRecordOf, startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(() => loads.clear());

const caller = callerFor("org_time");
const [uei, other] = ["ABCDEFGHJK51", "ABCDEFGHJK52"] as const;
const lookUp = async (identifiers: Record<string, string>) =>
  (await app.gateway.lookUp({ caller, identifiers })).entity!;
const resolve = (identifiers: Record<string, string>) =>
  app.verification.resolveVendor({ caller, identifiers, legalName: "", entityId: "" });
const record = (query: { uei?: string; cage?: string }) => registryRecordOf(app.verification, query);
const statusOf = async (by: string = uei) => (await lookUp({ uei: by })).samGov!.registrationStatus;
const notFound = { code: "entity_not_found" };

describe("a vendor with several rows and CAGEs", () => {
  const rows: Record<number, string>[] = [
    { 1: uei, 4: "1AAA1" },
    { 1: uei, 3: "0002", 4: "2BBB2" },
  ];

  test("is found by each of them, and shown with that of its main row", async () => {
    await loads.load([rows[1]!, { 1: other, 4: "9ZZZ9" }, rows[0]!]);
    for (const cage of ["1AAA1", "2BBB2"]) {
      expect(await lookUp({ cage })).toMatchObject({ identifiers: { uei, cage: "1AAA1" }, samGov: { cage: "1AAA1" } });
      expect(await resolve({ uei, cage })).toMatchObject({ created: false });
      expect((await record({ cage })).record).toMatchObject({ uei, cage: "1AAA1" });
    }
    await expect(resolve({ uei, cage: "9ZZZ9" })).rejects.toMatchObject({ code: "ambiguous_match" });
  });

  test("is taken over with all of them by an entity that an organization created", async () => {
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { cage: "2BBB2" } });
    await loads.load(rows);
    for (const cage of ["1AAA1", "2BBB2"]) expect((await lookUp({ cage })).id).toBe(entity!.id);
  });

  test("is excluded by a row of any of them, also after it has lost that CAGE", async () => {
    await loads.load(rows);
    await loads.exclude([{ cage: "2BBB2" }], "2026-09-07");
    expect(await statusOf()).toBe("debarred");
    await loads.load([{ 1: uei, 4: "1AAA1" }], { day: "13" });
    expect(await statusOf()).toBe("debarred");
    await loads.load([{ 1: uei, 4: "" }], { day: "20" });
    expect(await statusOf()).toBe("debarred");
    expect((await record({ uei })).exclusions).toMatchObject([{ effect: "bar", withoutUei: true }]);
    await loads.exclude([{ cage: "9ZZZ9" }], "2026-09-21");
    expect(await statusOf()).toBe("active");
  });

  test("keeps the CAGEs of the rows that a daily file does not have", async () => {
    await loads.load(rows);
    await loads.load([{ ...rows[0]!, 6: "3", 12: "RENAMED LLC" }], { day: "07" });
    expect(await lookUp({ cage: "2BBB2" })).toMatchObject({ legalName: "RENAMED LLC" });
  });
});

describe("a CAGE that moves to another vendor", () => {
  beforeEach(() => loads.load([{ 1: uei, 4: "1AAA1" }]));
  const moved = () => loads.load([{ 1: other, 4: "1AAA1" }], { day: "13" });

  test("names the vendor of the newest complete file; the one that it lacks is inactive and found by its UEI and id", async () => {
    const { id } = await lookUp({ uei });
    await moved();
    expect(await lookUp({ cage: "1AAA1" })).toMatchObject({ identifiers: { uei: other } });
    expect(await resolve({ cage: "1AAA1" })).toMatchObject({ created: false });
    expect(await statusOf()).toBe("inactive");
    expect((await app.gateway.getEntity({ caller, entityId: id })).entity).toMatchObject({
      identifiers: { uei },
      samGov: { registrationStatus: "inactive" },
    });
    const absent = await record({ uei });
    expect([absent.record, absent.registryCutDate]).toEqual([undefined, "2026-09-13"]);
    expect((await record({ cage: "1AAA1" })).record).toMatchObject({ uei: other });
  });

  test("does not clear the vendor that it was excluded by, and excludes the new one", async () => {
    await loads.exclude([{ cage: "1AAA1" }], "2026-09-07");
    await moved();
    expect([await statusOf(), await statusOf(other)]).toEqual(["debarred", "debarred"]);
    for (const one of [uei, other]) expect((await record({ uei: one })).exclusions).toHaveLength(1);
  });

  test("does not clear the entity that an organization created of the vendor", async () => {
    await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { duns: "123456789" } });
    const { entity } = await app.gateway.createEntity({
      caller: callerFor("org_other"),
      legalName: "Own",
      identifiers: { uei: other, cage: "9ZZZ9" },
    });
    await loads.exclude([{ cage: "9ZZZ9" }], "2026-09-07");
    await moved();
    expect(await app.live.entities.findOne({ _id: entity!.id })).toMatchObject({
      identifiers: { cage: "1AAA1" },
      former_cages: ["9ZZZ9"],
      exclusions: [{}],
    });
  });
});

describe("a vendor that a newer complete file lacks", () => {
  test("is inactive and has no CAGE for the organization whose entity took it over, until a file lists it again", async () => {
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
    await loads.load([{ 1: uei, 4: "1AAA1" }]);
    expect(await lookUp({ cage: "1AAA1" })).toMatchObject({ id: entity!.id, samGov: { registrationStatus: "active" } });
    const { loadId } = await loads.load([{ 1: other, 4: "1AAA1" }], { day: "13" });
    expect(await statusOf()).toBe("inactive");
    expect(await lookUp({ cage: "1AAA1" })).toMatchObject({ identifiers: { uei: other } });
    await loads.withdraw(loadId);
    expect(await statusOf()).toBe("active");
    await loads.load([{ 1: other, 4: "" }], { day: "20" });
    expect(await statusOf()).toBe("inactive");
    await loads.load([{ 1: uei, 4: "1AAA1" }], { day: "27" });
    expect(await statusOf()).toBe("active");
  });

  test("has snapshots that show since when it is inactive, and when that was withdrawn or a file lists it again", async () => {
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
    const row = { 1: uei, 4: "1AAA1" };
    await loads.load([row]);
    const { loadId } = await loads.load([{ 1: other }], { day: "13" });
    await loads.withdraw(loadId);
    await loads.load([{ 1: other, 4: "" }], { day: "20" });
    await loads.load([row], { day: "27" });
    const registry = await app.live.entities.findOne({ "identifiers.uei": uei, organization_id: null });
    for (const [id, before] of [[registry!._id, []] as const, [entity!.id, ["inactive"]] as const]) {
      const snapshots = await app.live.snapshots.find({ entity_id: id }).sort({ version: 1 }).toArray();
      const statuses = snapshots.map((one) => one.entity.sam_gov.registration_status);
      expect(statuses).toEqual([...before, "active", "inactive", "active", "inactive", "active"]);
    }
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  });

  test("is not found by its CAGE, which an organization can then give to an entity", async () => {
    await loads.load([{ 1: uei, 4: "1AAA1" }]);
    await loads.load([{ 1: other, 4: "" }], { day: "13" });
    await expect(lookUp({ cage: "1AAA1" })).rejects.toMatchObject(notFound);
    expect((await record({ cage: "1AAA1" })).record).toBeUndefined();
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { cage: "1AAA1" } });
    expect((await lookUp({ cage: "1AAA1" })).id).toBe(entity!.id);
  });
});

test("text that means no identifier is none in an extract, too", async () => {
  const { counts } = await loads.load([{ 1: uei, 4: "00000" }, { 1: "N0TAPPLICABL" }]);
  expect(counts).toMatchObject({ new: 1, quarantined: 1 });
  expect((await lookUp({ uei })).identifiers).toEqual({ uei });
});
