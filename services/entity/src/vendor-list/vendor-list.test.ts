import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { VendorFilter, VendorOrder } from "@vvs/proto/entity/v1/vendors";
import { MonitorStateChangedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import type { VendorTag } from "../model/listed-vendor.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { newVendor, noteMonitors } from "./listed-vendor.ts";
import { createVendorRecords } from "./vendor-records.ts";
import { createVendorStore } from "./vendor-store.ts";

const REGISTERED = "ABCDEFGHJK71";
const app = await startTestApplication();
await createLoads(app).load([{ 1: REGISTERED, 12: "REGISTERED LLC" }]);
let caller: ReturnType<typeof callerFor>;
let organization = 0;
beforeEach(() => {
  caller = callerFor(`org_${++organization}`);
  app.clock.now = NOW;
});

const NOW = new Date("2026-11-23T10:00:00Z");
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);
const inDays = (days: number) => daysAgo(-days).toISOString().slice(0, 10);

const tenantOfCaller = () => ({ organizationId: caller.tenant.organizationId, environment: "live" }) as const;
const created = async (legalName = "Own LLC", by = caller) =>
  (await app.gateway.createEntity({ caller: by, legalName })).entity!.id;
const registered = async (by = caller) =>
  (await app.gateway.lookUp({ caller: by, identifiers: { uei: REGISTERED } })).entity!.id;

type Completed = Omit<MessageInitShape<typeof VerificationCompletedSchema>, "$typeName">;
const completed = (entityId: string, fields: Partial<Completed> = {}, by = caller) =>
  create(VerificationCompletedSchema, {
    verificationId: newId("ver"),
    tenant: by.tenant,
    entityId,
    checks: [{ checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, facts: {} }],
    overallResult: CheckStatus.PASS,
    createdAt: timestampFromDate(NOW),
    ...fields,
  });
const verified = (...record: Parameters<typeof completed>) =>
  app.records.live.verificationCompleted(completed(...record));
const state = (entityId: string, monitorId: string, active: boolean, by = caller) =>
  create(MonitorStateChangedSchema, {
    recordId: `${monitorId}:${active}`,
    tenant: by.tenant,
    monitorId,
    entityId,
    active,
  });
const monitored = (...record: Parameters<typeof state>) => app.records.live.monitorStateChanged(state(...record));

const list = async (fields: object = {}, by = caller) =>
  (await app.dashboard.listVendors({ caller: by, limit: 100, ...fields })).vendors;
const idsOf = async (fields: object = {}, by = caller) => (await list(fields, by)).map(({ entity }) => entity!.id);
const only = async () => {
  const vendors = await list();
  expect(vendors).toHaveLength(1);
  return vendors[0]!;
};

describe("the list of an organization's vendors has", () => {
  test("what it creates, in the moment of the creation, with its own number", async () => {
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own LLC", externalId: "V-1" });
    const vendor = await only();
    expect(vendor).toMatchObject({ entity: { id: entity!.id, legalName: "Own LLC", externalId: "V-1" }, checks: [] });
    expect(vendor.lastCheckedAt).toBeUndefined();
  });

  test("what it verifies, with the newest result, its last answer, its expiration date and its time", async () => {
    const id = await registered();
    const facts = { registration_status: "debarred", expiration_date: "2027-02-01" };
    const failed = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.FAIL, reason: "excluded", facts };
    await verified(id, { verificationId: "ver_1", checks: [failed], createdAt: timestampFromDate(daysAgo(2)) });
    const unanswered = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.ERROR, reason: "providers_failed" };
    await verified(id, { verificationId: "ver_2", checks: [unanswered] });
    const vendor = await only();
    expect(vendor).toMatchObject({
      entity: { id, legalName: "REGISTERED LLC" },
      expirationDate: "2027-02-01",
      excluded: true,
      activeMonitors: 0,
      checks: [
        {
          status: CheckStatus.ERROR,
          reason: "providers_failed",
          verificationId: "ver_2",
          lastAnswered: { status: CheckStatus.FAIL, reason: "excluded", verificationId: "ver_1" },
        },
      ],
    });
    expect(timestampDate(vendor.lastCheckedAt!)).toEqual(NOW);
  });

  test("a stored answer that is used again with the time at which its check was made", async () => {
    const id = await registered();
    const madeAt = timestampFromDate(daysAgo(60));
    const check = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, madeAt };
    await verified(id, { checks: [check] });
    const { lastCheckedAt, checks } = await only();
    for (const at of [lastCheckedAt, checks[0]!.checkedAt, checks[0]!.lastAnswered!.checkedAt]) {
      expect(at).toEqual(madeAt);
    }
    expect(await idsOf({ filter: VendorFilter.NOT_CHECKED, days: 30 })).toEqual([id]);
  });

  test("for a TIN match the TIN and the name that were asked about", async () => {
    const asked = { tin: "****2220", name: "Another Company" };
    const match = { checkType: CheckType.TIN_MATCH, status: CheckStatus.PASS, facts: asked };
    await verified(await registered(), { checks: [match] });
    expect((await only()).checks).toMatchObject([{ ...asked, lastAnswered: asked }]);
    expect((await only()).checks[0]!.lastAnswered!.aboutOther).toBeUndefined();
  });

  test("whether a TIN match is about another TIN or name, and only the vendor's own failures by the filter", async () => {
    const failed = async (asked: { tin: string; name: string }, fingerprint = "own") => {
      const id = await created(`Acme ${asked.tin} ${asked.name} ${fingerprint} Inc`);
      const tinFingerprint = Buffer.from(fingerprint);
      const status = CheckStatus.FAIL;
      const match = { checkType: CheckType.TIN_MATCH, status, reason: "mismatch", facts: asked, tinFingerprint };
      const subject = { entityName: "Acme Inc", entityTin: "****6782", entityTinFingerprint: Buffer.from("own") };
      await verified(id, { checks: [match], ...subject });
      return id;
    };
    const own = await failed({ tin: "****6782", name: "ACME INC" });
    const otherTin = await failed({ tin: "****2222", name: "Acme Inc" }, "other");
    const likeTin = await failed({ tin: "****6782", name: "Acme Inc" }, "other");
    const otherName = await failed({ tin: "****6782", name: "Totally Other LLC" });
    expect(await idsOf({ filter: VendorFilter.FAILED })).toEqual([own]);
    expect(await app.dashboard.countVendors({ caller })).toMatchObject({ failed: 1 });
    const all = [own, otherTin, likeTin, otherName];
    const { vendors } = await app.dashboard.getVendors({ caller, entityIds: all });
    const isOther = new Map(vendors.map(({ entity, checks }) => [entity!.id, checks[0]!.lastAnswered!.aboutOther]));
    expect(all.map((id) => isOther.get(id))).toEqual([false, true, true, true]);
  });

  test("the effect of the exclusions in force", async () => {
    const facts = { registration_status: "active", exclusion_effect: "product" };
    const passed = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, facts };
    await verified(await registered(), { checks: [passed] });
    expect((await only()).checks[0]!.lastAnswered!.exclusionEffect).toBe("product");
  });

  test("what a check of the registration leaves open: exclusions by name, and another name than the vendor's", async () => {
    const passed = async (facts: Record<string, string>) => {
      const id = await created();
      const check = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, facts };
      await verified(id, { checks: [check], entityName: "Own LLC" });
      return (await app.dashboard.getVendors({ caller, entityIds: [id] })).vendors[0]!.checks[0]!;
    };
    const other = { sameName: "found", name: "OTHER INC" };
    expect(await passed({ same_name: "found", legal_name: "OTHER INC" })).toMatchObject({
      ...other,
      lastAnswered: other,
    });
    expect(await passed({ legal_name: "OWN L.L.C." })).toMatchObject({ sameName: "", name: "" });
  });

  test("what it monitors; a canceled monitor stays canceled in whatever order and number its records come", async () => {
    const id = await registered();
    const [first, second] = [newId("mon"), newId("mon")];
    await monitored(id, first, true);
    await monitored(id, second, true);
    expect((await only()).activeMonitors).toBe(2);
    for (const active of [false, true, true, false, true]) await monitored(id, first, active);
    expect((await only()).activeMonitors).toBe(1);
    const late = newId("mon");
    await monitored(id, late, false);
    await monitored(id, late, true);
    expect((await only()).activeMonitors).toBe(1);
  });

  test("no vendor of another organization or environment, nor its results, monitors and archive", async () => {
    const id = await registered();
    const other = callerFor(`org_other_${organization}`);
    await verified(id);
    await verified(id, { checks: [{ checkType: CheckType.TIN_MATCH, status: CheckStatus.FAIL }] }, other);
    await monitored(id, newId("mon"), true, other);
    expect(await only()).toMatchObject({ activeMonitors: 0, checks: [{ checkType: CheckType.SAM_REGISTRATION }] });
    await app.dashboard.setVendorArchived({ caller: other, entityId: id, archived: true });
    expect(await idsOf()).toEqual([id]);
    expect(await idsOf({}, callerFor(caller.tenant.organizationId, "sandbox"))).toEqual([]);
    const own = await created();
    const reads = await app.dashboard.getVendors({ caller: other, entityIds: [own] });
    expect(reads.vendors).toEqual([]);
    const archive = app.dashboard.setVendorArchived({ caller: other, entityId: own, archived: true });
    await expect(archive).rejects.toMatchObject({ code: "entity_not_found" });
  });

  test("nothing about an entity that the organization can't see", async () => {
    await verified(await created("Theirs LLC", callerFor("org_theirs")));
    await verified(newId("ent"));
    expect(await idsOf()).toEqual([]);
  });
});

describe("a record that can never be handled is refused as such:", () => {
  test.each<[string, Partial<Completed>]>([
    ["without a verification", { verificationId: "" }],
    ["without an entity", { entityId: "" }],
    ["without a time", { createdAt: undefined }],
    ["without a known check", { checks: [{ checkType: 99 as CheckType, status: CheckStatus.PASS }] }],
    ["with an unknown status", { checks: [{ checkType: CheckType.TIN_MATCH, status: 99 as CheckStatus }] }],
    ["of the other environment", { tenant: callerFor("org_1", "sandbox").tenant }],
  ])("a verification %s", async (_name, fields) => {
    await expect(verified(await registered(), fields)).rejects.toThrow(PoisonRecordError);
  });

  test("a monitor of another organization, and one of an entity that is not there", async () => {
    const [id, monitorId] = [await registered(), newId("mon")];
    await monitored(id, monitorId, true);
    await expect(monitored(id, monitorId, true, callerFor("org_thief"))).rejects.toThrow(PoisonRecordError);
    await expect(monitored(newId("ent"), newId("mon"), true)).rejects.toThrow(PoisonRecordError);
  });
});

describe("concurrent changes of one vendor", () => {
  const storeOf = () => createVendorStore({ collections: app });

  test("are all made, also while the vendor is added", async () => {
    const [id, monitorId] = [await registered(), newId("mon")];
    const verifications = Array.from({ length: 20 }, (_, index) =>
      verified(id, { verificationId: `ver_${index + 10}` }),
    );
    await Promise.all([...verifications, monitored(id, monitorId, true)]);
    expect(await only()).toMatchObject({ activeMonitors: 1, checks: [{ verificationId: "ver_29" }] });
  });

  test("are all made, though another one is stored between the reading and the writing", async () => {
    const [id, other] = [await registered(), await created()];
    await verified(id);
    const { organizationId } = tenantOfCaller();
    await app.live.vendors.deleteOne({ organization_id: organizationId, entity_id: other });
    let late = 1;
    const updates = [id, other].map((entityId) => ({ tenant: tenantOfCaller(), entityId, change: noteMonitors(2) }));
    // What is not listed is asked for after the listed were read.
    const isListed = await storeOf().update("live", updates, async () => {
      if (late-- > 0) await verified(id, { verificationId: "ver_late", createdAt: timestampFromDate(daysAgo(-1)) });
      return [newVendor(tenantOfCaller(), other, "Own LLC")];
    });
    expect(isListed).toBe(true);
    const { vendors } = await app.dashboard.getVendors({ caller, entityIds: [id, other] });
    expect(vendors.map(({ activeMonitors }) => activeMonitors)).toEqual([2, 2]);
    expect(vendors.find(({ entity }) => entity!.id === id)!.checks).toMatchObject([{ verificationId: "ver_late" }]);
  });

  test("all monitors are counted, though another one's record is handled between the count and the write", async () => {
    const id = await registered();
    const vendors = storeOf();
    let other: string | undefined = newId("mon");
    const records = createVendorRecords({
      environment: "live",
      entities: app.live.entities,
      vendors: {
        ...vendors,
        async countMonitors(tenant, entityId) {
          const counted = await vendors.countMonitors(tenant, entityId);
          const late = other;
          other = undefined;
          if (late) await monitored(id, late, true);
          return counted;
        },
      },
    });
    await records.monitorStateChanged(state(id, newId("mon"), true));
    expect((await only()).activeMonitors).toBe(2);
  });
});

describe("an archived vendor", () => {
  test("is only in the archive, whatever happens to it, until it is taken back", async () => {
    const id = await created();
    const archive = (archived: boolean) => app.dashboard.setVendorArchived({ caller, entityId: id, archived });
    await archive(true);
    await archive(true);
    await verified(id, { checks: [{ checkType: CheckType.TIN_MATCH, status: CheckStatus.FAIL }] });
    await monitored(id, newId("mon"), true);
    for (const filter of [VendorFilter.UNSPECIFIED, VendorFilter.FAILED, VendorFilter.MONITORED]) {
      expect(await idsOf({ filter })).toEqual([]);
    }
    expect(await idsOf({ filter: VendorFilter.ARCHIVED })).toEqual([id]);
    expect((await app.dashboard.getVendors({ caller, entityIds: [id] })).vendors[0]!.archived).toBe(true);
    await archive(false);
    expect(await idsOf({ filter: VendorFilter.FAILED })).toEqual([id]);
    expect(await idsOf({ filter: VendorFilter.ARCHIVED })).toEqual([]);
  });
});

describe("filters and counts", () => {
  test("find each vendor by its expiration date, last check, results and monitors", async () => {
    const passing = (end: string, ago: number): Partial<Completed> => ({
      checks: [
        {
          checkType: CheckType.SAM_REGISTRATION,
          status: CheckStatus.PASS,
          facts: { registration_status: "active", expiration_date: end },
        },
      ],
      createdAt: timestampFromDate(daysAgo(ago)),
    });
    const ids: Record<string, string> = {};
    const add = async (name: string, fields?: Partial<Completed>) => {
      ids[name] = await created(name);
      if (fields) await verified(ids[name], fields);
    };
    await add("never");
    await add("yesterday", passing(inDays(-1), 29));
    await add("today", passing(inDays(0), 1));
    await add("in 30", passing(inDays(30), 31));
    await add("in 31", passing(inDays(31), 0));
    await add("in 90", passing(inDays(90), 0));
    await add("error", {
      checks: [{ checkType: CheckType.TIN_MATCH, status: CheckStatus.ERROR, reason: "missing_tin" }],
    });
    await add("confirmed", passing(inDays(200), 31));
    await monitored(ids.today!, newId("mon"), true);
    await monitored(ids.confirmed!, newId("mon"), true);
    const named = async (filter: VendorFilter, days = 0) =>
      (await list({ filter, days })).map(({ entity }) => entity!.legalName);
    expect(await named(VendorFilter.EXPIRED)).toEqual(["yesterday"]);
    expect(await named(VendorFilter.EXPIRING, 30)).toEqual(["today", "in 30"]);
    expect(await named(VendorFilter.EXPIRING, 60)).toEqual(["today", "in 30", "in 31"]);
    expect(await named(VendorFilter.NOT_CHECKED, 30)).toEqual(["never", "in 30"]);
    expect(await named(VendorFilter.ERROR)).toEqual(["error"]);
    expect(await named(VendorFilter.MONITORED)).toEqual(["confirmed", "today"]);
    expect(await named(VendorFilter.NOT_MONITORED)).toHaveLength(6);
    const { $typeName, ...counts } = await app.dashboard.countVendors({ caller });
    expect(counts).toEqual({ failed: 0, excluded: 0, error: 1, expiring30: 2, registrationEnded: 1 });
  });

  test.each([
    ["limit", { limit: 0 }],
    ["limit", { limit: 101 }],
    ["days", { filter: VendorFilter.EXPIRING, days: 0 }],
    ["days", { filter: VendorFilter.NOT_CHECKED, days: 367 }],
    ["filter", { filter: 99 as VendorFilter }],
    ["order", { order: 99 as VendorOrder }],
    ["after", { after: { value: "x", entityId: "ent_1" } }],
    ["after", { after: { value: "no time", entityId: newId("ent") }, order: VendorOrder.LAST_CHECK_NEWEST }],
  ])("a request with an impossible %s is refused", async (path, fields) => {
    await expect(list(fields)).rejects.toMatchObject({ code: "invalid_request", details: [{ path }] });
  });
});

describe("pages", () => {
  const orders = [
    VendorOrder.UNSPECIFIED,
    VendorOrder.LAST_CHECK_NEWEST,
    VendorOrder.LAST_CHECK_OLDEST,
    VendorOrder.EXPIRY,
  ];
  /** Stores vendors in groups with the same values, so that pages begin and end within a group. */
  async function fill(count: number, group: number) {
    const organizationId = caller.tenant.organizationId;
    const documents = Array.from({ length: count }, (_, index) => {
      const same = Math.floor(index / group);
      const monitors = index % 2;
      return {
        ...newVendor({ organizationId }, newId("ent", new Date(NOW.getTime() + index)), ""),
        lists: ["all", monitors ? "monitored" : "unmonitored", "failed", "error", "excluded"] as VendorTag[],
        name_key: `vendor ${String(same).padStart(6, "0")}`,
        checked_at: daysAgo(same % 60),
        expires_on: inDays(same % 120),
        monitors,
        excluded: true,
        checks: {
          tin_match: {
            newest: { status: "error" as const, reason: "", at: NOW, verification_id: "ver_1" },
            answered: { status: "fail" as const, reason: "", at: NOW, verification_id: "ver_0" },
          },
        },
      };
    });
    await app.live.vendors.insertMany(documents);
    return documents;
  }

  test.each(orders)("in order %s together have each vendor once, in one order", async (order) => {
    const ids = await Promise.all(["a", "B", "b", "c", "D", "e", "f"].map((name) => created(name)));
    await Promise.all(
      ids.slice(2).map((id, index) => verified(id, { createdAt: timestampFromDate(daysAgo(index % 2)) })),
    );
    const seen: string[] = [];
    for (let after: object | undefined; ; ) {
      const { vendors, next } = await app.dashboard.listVendors({ caller, order, limit: 2, ...(after && { after }) });
      seen.push(...vendors.map(({ entity }) => entity!.id));
      if (!next) break;
      after = next;
    }
    expect(seen).toEqual(await idsOf({ order }));
    expect([...seen].sort()).toEqual([...ids].sort());
  });

  test("read no more than they show, for each filter and order, wherever they begin", async () => {
    const documents = await fill(3_000, 1_000);
    const tenant = tenantOfCaller();
    const vendors = createVendorStore({ collections: { live: app.live, sandbox: app.live } });
    const { db, namespace } = app.live.vendors;
    await db.command({ profile: 2 });
    const tags: VendorTag[] = ["all", "failed", "error", "excluded", "monitored"];
    // The page after the second one goes on with the next value.
    const places = [documents[1_500]!, documents[1_990]!];
    for (const tag of tags) {
      for (const field of ["name_key", "checked_at", "expires_on"] as const) {
        for (const direction of [1, -1] as const) {
          const afters = places.map((place) => ({ value: place[field], entityId: place.entity_id }));
          for (const after of [undefined, ...afters]) {
            const found = await vendors.list(tenant, { tag, field, direction }, { limit: 50, after });
            expect(found).toHaveLength(50);
          }
        }
      }
    }
    const ranges = [
      { tag: "all", field: "expires_on", direction: 1, from: inDays(0), before: inDays(31) },
      { tag: "all", field: "checked_at", direction: 1, before: daysAgo(0) },
    ] as const;
    for (const query of ranges)
      expect(await vendors.list(tenant, query, { limit: 50, after: undefined })).toHaveLength(50);
    await db.command({ profile: 0 });
    const examined = await db.collection("system.profile").find({ ns: namespace }).toArray();
    expect(examined.length).toBeGreaterThanOrEqual(tags.length * 18 + 2);
    for (const { keysExamined, docsExamined } of examined) {
      expect(keysExamined).toBeLessThanOrEqual(52);
      expect(docsExamined).toBeLessThanOrEqual(50);
    }
    const counts = await app.dashboard.countVendors({ caller });
    expect(counts).toMatchObject({ failed: 1_000 });
  });
});

test("names are compared by the rule of payments", async () => {
  const compare = async (one: string, other: string) =>
    (await app.dashboard.compareNames({ caller, pairs: [{ one, other }] })).agree;
  expect(await compare("A&M FOODS, L.L.C.", "A and M Foods LLC")).toEqual([true]);
  expect(await compare("Totally Other Company Inc", "Sandbox Active Vendor LLC")).toEqual([false]);
  expect(await compare("Acme Inc", "Acme LLC")).toEqual([false]);
  expect(await compare("Metro Bank", "Metropolitan Bank")).toEqual([false]);
  const tooMany = app.dashboard.compareNames({ caller, pairs: Array(201).fill({ one: "a", other: "a" }) });
  await expect(tooMany).rejects.toMatchObject({ code: "invalid_request" });
});
