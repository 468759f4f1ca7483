import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callerFor, startTestApplication, subjectOf, type TestApplication } from "./test-application.ts";

let app: TestApplication;
beforeAll(async () => {
  app = await startTestApplication(process.env.MONGODB_URI!);
});
afterAll(() => app.stop());

const page = { limit: 100 };
const versionsOf = async (caller: ReturnType<typeof callerFor>, entityId: string) =>
  (await app.gateway.listSnapshots({ caller, entityId, page })).snapshots.map(({ version }) => version);

describe("a vendor that no entity is named by", () => {
  test.each([
    [{ uei: "ABCDEFGHJK21", tin: "100000001" }, "Unknown entity (UEI ABCDEFGHJK21)"],
    [{ cage: "2ABC1", duns: "100000002" }, "Unknown entity (CAGE 2ABC1)"],
    [{ duns: "100000003", tin: "100000004" }, "Unknown entity (DUNS 100000003)"],
    [{ tin: "100001234" }, "Unknown entity (TIN ****1234)"],
  ])("is created with a placeholder, which is no name to ask with", async (identifiers, name) => {
    const caller = callerFor("org_placeholder");
    const { entityId, created } = await app.verification.resolveVendor({ caller, identifiers });
    expect(created).toBe(true);
    const { entity } = await app.gateway.getEntity({ caller, entityId });
    expect(entity!.legalName).toBe(name);
    const subject = await subjectOf(app.verification, caller, entityId);
    expect(subject).toMatchObject({ legalName: "", createdByOrganization: true });
    for (const fuzzy of [false, true]) {
      await expect(app.gateway.lookUp({ caller, fuzzy, legalName: name })).rejects.toMatchObject({
        code: "entity_not_found",
      });
    }
  });

  test("is created once, however many ask at once and with whatever of its identifiers", async () => {
    const caller = callerFor("org_race");
    const forms = [
      { tin: "200000001" },
      { tin: "200000001", uei: "ABCDEFGHJK22" },
      { tin: "200000001", cage: "2ABC2" },
    ];
    const calls = Array.from({ length: 12 }, (_, index) => forms[index % forms.length]!);
    const resolved = await Promise.all(
      calls.map((identifiers) => app.verification.resolveVendor({ caller, identifiers, legalName: "Race Co" })),
    );
    expect(new Set(resolved.map(({ entityId }) => entityId)).size).toBe(1);
    expect(resolved.filter(({ created }) => created)).toHaveLength(1);
    const { entityId } = resolved[0]!;
    const { entity } = await app.gateway.getEntity({ caller, entityId });
    expect(entity!.identifiers).toEqual({ uei: "ABCDEFGHJK22", cage: "2ABC2", tin: "****0001" });
    const versions = await versionsOf(caller, entityId);
    expect(versions).toEqual(versions.map((_, index) => versions.length - index));
  });
});

describe("a vendor that an own entity is named by", () => {
  test("gets the identifiers that it lacks, and its first name, each with a snapshot", async () => {
    const caller = callerFor("org_own");
    const { entityId } = await app.verification.resolveVendor({ caller, identifiers: { duns: "300000001" } });
    const named = await app.verification.resolveVendor({
      caller,
      identifiers: { duns: "300000001", tin: "300000002" },
      legalName: "Late Name Inc",
    });
    expect(named).toMatchObject({ entityId, created: false });
    const renamed = { caller, identifiers: { tin: "300000002" }, legalName: "Another Name Inc" };
    expect((await app.verification.resolveVendor(renamed)).entityId).toBe(entityId);
    const { entity } = await app.gateway.getEntity({ caller, entityId });
    expect(entity).toMatchObject({ legalName: "Late Name Inc", identifiers: { duns: "300000001", tin: "****0002" } });
    expect(await versionsOf(caller, entityId)).toEqual([2, 1]);
    expect((await app.verification.revealTin({ caller, entityId })).tin).toBe("300000002");
    const reveals = await app.live.tinReveals.find({ entity_id: entityId }).toArray();
    expect(reveals).toMatchObject([{ organization_id: "org_own", actor: "key_1", caller: "verification" }]);
  });

  test("is refused with an identifier that contradicts, naming the entity; those that name several are ambiguous", async () => {
    const caller = callerFor("org_contra");
    const first = await app.verification.resolveVendor({
      caller,
      identifiers: { uei: "ABCDEFGHJK23", tin: "400000001" },
    });
    const second = await app.verification.resolveVendor({ caller, identifiers: { cage: "2ABC3" } });
    await expect(
      app.verification.resolveVendor({ caller, identifiers: { uei: "ABCDEFGHJK23", tin: "400000009" } }),
    ).rejects.toMatchObject({ code: "entity_exists", entityId: first.entityId });
    await expect(
      app.verification.resolveVendor({ caller, identifiers: { uei: "ABCDEFGHJK23", cage: "2ABC3" } }),
    ).rejects.toMatchObject({
      code: "ambiguous_match",
      candidates: [{ id: first.entityId }, { id: second.entityId }],
    });
  });
});

describe("a vendor that a registry entity is named by", () => {
  const uei = "SANDBXACTVE1";

  test("keeps what one organization supplies for that organization alone", async () => {
    const caller = callerFor("org_keeps", "sandbox");
    const other = callerFor("org_others", "sandbox");
    const { entityId, created } = await app.verification.resolveVendor({
      caller,
      identifiers: { uei, tin: "500000001", duns: "500000002" },
      legalName: "Ignored",
    });
    expect(created).toBe(false);
    const seen = async (by: typeof caller) => (await app.gateway.getEntity({ caller: by, entityId })).entity!;
    expect((await seen(caller)).identifiers).toMatchObject({ uei, tin: "****0001", duns: "500000002" });
    expect(Object.keys((await seen(other)).identifiers)).toEqual(expect.not.arrayContaining(["tin", "duns"]));
    expect((await seen(caller)).legalName).toBe((await seen(other)).legalName);
    expect(await versionsOf(caller, entityId)).toEqual([1]);
    const { snapshots } = await app.gateway.listSnapshots({ caller, entityId, page });
    expect(snapshots[0]).toMatchObject({ organizationId: "", requestId: "", actor: "registry:sandbox" });
    expect(JSON.stringify(snapshots[0]!.entity)).not.toContain("****");

    const byTin = { identifiers: { tin: "500000001" } };
    expect((await app.gateway.lookUp({ caller, ...byTin })).entity!.id).toBe(entityId);
    await expect(app.gateway.lookUp({ caller: other, ...byTin })).rejects.toMatchObject({ code: "entity_not_found" });
    expect((await app.verification.revealTin({ caller, entityId })).tin).toBe("500000001");
    await expect(app.verification.revealTin({ caller: other, entityId })).rejects.toMatchObject({ code: "not_found" });
  });

  test("replaces what was remembered when another is supplied, and yields to an entity that carries it", async () => {
    const caller = callerFor("org_replaces", "sandbox");
    const first = await app.verification.resolveVendor({ caller, identifiers: { uei, tin: "600000001" } });
    const before = await subjectOf(app.verification, caller, first.entityId);
    await app.verification.resolveVendor({ caller, identifiers: { uei, tin: "600000002" } });
    const after = await subjectOf(app.verification, caller, first.entityId);
    expect(after.tinHash).not.toEqual(before.tinHash);
    await expect(app.gateway.lookUp({ caller, identifiers: { tin: "600000001" } })).rejects.toMatchObject({
      code: "entity_not_found",
    });
    const { entity } = await app.gateway.createEntity({
      caller,
      legalName: "Carrier Inc",
      identifiers: { tin: "600000002" },
    });
    const byTin = await app.gateway.lookUp({ caller, identifiers: { tin: "600000002" } });
    expect(byTin.entity!.id).toBe(entity!.id);
    await expect(
      app.verification.resolveVendor({ caller, identifiers: { uei, tin: "600000002" } }),
    ).rejects.toMatchObject({ code: "ambiguous_match" });
  });
});

describe("a provider's facts", () => {
  const facts = (at: Date, set: object = {}) => ({
    provider: "sam_gov_api",
    retrievedAt: { seconds: BigInt(Math.floor(at.getTime() / 1000)), nanos: 0 },
    registrationStatus: "active",
    legalName: "FACTS INC",
    cage: "3ABC1",
    expirationDate: "2099-01-31",
    entityType: "Corporate Entity (Not Tax Exempt)",
    ...set,
  });

  test("change an own entity once, with a snapshot, and never by an older answer", async () => {
    const caller = callerFor("org_facts");
    const { entity } = await app.gateway.createEntity({
      caller,
      legalName: "Facts",
      identifiers: { duns: "700000001" },
    });
    const entityId = entity!.id;
    const update = (at: Date, set?: object) =>
      app.verification.updateFromProvider({ caller, entityId, ...facts(at, set) });
    expect(await update(new Date("2026-05-02"))).toMatchObject({ changed: true });
    expect(await update(new Date("2026-05-03"))).toMatchObject({ changed: false });
    expect(await update(new Date("2026-05-01"), { registrationStatus: "expired" })).toMatchObject({ changed: false });
    expect(await update(new Date("2026-05-04"), { registrationStatus: "debarred" })).toMatchObject({ changed: true });
    const seen = await app.gateway.getEntity({ caller, entityId });
    expect(seen.entity).toMatchObject({
      legalName: "FACTS INC",
      samGov: { registrationStatus: "debarred", cage: "3ABC1", expirationDate: "2099-01-31" },
      sources: [{ name: "organization" }, { name: "sam_gov_api" }],
    });
    expect(await versionsOf(caller, entityId)).toEqual([3, 2, 1]);
  });

  test("change no registry entity and nothing in the sandbox", async () => {
    const caller = callerFor("org_facts", "sandbox");
    const { entity: registry } = await app.gateway.lookUp({ caller, identifiers: { uei: "SANDBXEXPRD1" } });
    const { entity: own } = await app.gateway.createEntity({ caller, legalName: "Own" });
    for (const { id } of [registry!, own!]) {
      const update = { caller, entityId: id, ...facts(new Date()) };
      expect(await app.verification.updateFromProvider(update)).toMatchObject({ changed: false });
      expect(await versionsOf(caller, id)).toEqual([1]);
    }
  });
});
