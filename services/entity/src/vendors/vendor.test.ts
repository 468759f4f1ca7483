import { describe, expect, test } from "@jest/globals";
import {
  callerFor,
  revealedTin,
  startTestApplication,
  subjectOf,
  type TestApplication,
} from "../testing/application.ts";
import { pausingCommit } from "../testing/loads.ts";

const app = await startTestApplication();

const page = { limit: 100 };

/** Runs with a replica whose first transaction pauses after its writes, and then begins again with what was read before. */
async function paused(
  run: (
    replica: Awaited<ReturnType<TestApplication["serve"]>>,
    whilePaused: (call: () => Promise<unknown>) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const { client, committing, abort, retry } = pausingCommit(app.client);
  const replica = await app.serve({ ...app.rings, client });
  await run(replica, async (call) => {
    await committing;
    await abort();
    await call();
    retry();
  });
}

const versionsOf = async (caller: ReturnType<typeof callerFor>, entityId: string) =>
  (await app.gateway.listSnapshots({ caller, entityId, page })).snapshots.map(({ version }) => version);

describe("a vendor without an entity", () => {
  test.each([
    [{ uei: "ABCDEFGHJK21", tin: "100000001" }, "Unknown entity (UEI ABCDEFGHJK21)"],
    [{ cage: "2ABC1", duns: "100000002" }, "Unknown entity (CAGE 2ABC1)"],
    [{ duns: "100000003", tin: "100000004" }, "Unknown entity (DUNS 100000003)"],
    [{ tin: "100001234" }, "Unknown entity (TIN ****1234)"],
  ])("is created with a placeholder name, which no look-up or check uses", async (identifiers, name) => {
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

  test("is created once, even by concurrent calls with different identifiers of it", async () => {
    const caller = callerFor("org_race");
    const forms = [
      { tin: "200000001" },
      { tin: "200000001", uei: "ABCDEFGHJK22" },
      { tin: "200000001", cage: "2ABC2" },
    ];
    const calls = Array.from({ length: 6 }, (_, index) => forms[index % forms.length]!);
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

describe("a vendor that another call creates between reading and writing", () => {
  test.each([{ uei: "ABCDEFGHJK23" }, { cage: "2ABC3" }, { duns: "200000003" }, { tin: "200000004" }])(
    "is that vendor: %j",
    async (identifiers) => {
      const caller = callerFor("org_created_meanwhile");
      const resolve = ({ verification }: Pick<TestApplication, "verification">) =>
        verification.resolveVendor({ caller, identifiers, legalName: "Race Co" });
      await paused(async (replica, whilePaused) => {
        const late = resolve(replica);
        let first: Awaited<ReturnType<typeof resolve>> | undefined;
        await whilePaused(async () => {
          first = await resolve(app);
        });
        expect(first!.created).toBe(true);
        expect(await late).toMatchObject({ entityId: first!.entityId, created: false });
      });
    },
  );
});

describe("a vendor with an own entity", () => {
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
    expect(await revealedTin(app.verification, caller, entityId)).toBe("300000002");
    const reveals = await app.live.tinReveals.find({ entity_id: entityId }).toArray();
    expect(reveals).toMatchObject([{ organization_id: "org_own", actor: "key_1", caller: "verification" }]);
  });

  test("is refused with a contradicting identifier, naming the entity; identifiers of several entities are ambiguous", async () => {
    const caller = callerFor("org_contra");
    const first = await app.verification.resolveVendor({
      caller,
      identifiers: { uei: "ABCDEFGHJK23", tin: "400000001" },
    });
    const second = await app.verification.resolveVendor({ caller, identifiers: { cage: "2ABC3" } });
    await expect(
      app.verification.resolveVendor({ caller, identifiers: { uei: "ABCDEFGHJK23", tin: "400000009" } }),
    ).rejects.toMatchObject({
      code: "entity_exists",
      entityId: first.entityId,
      message: expect.stringMatching(/Correct it or leave it out/),
    });
    await expect(
      app.verification.resolveVendor({ caller, identifiers: { uei: "ABCDEFGHJK23", cage: "2ABC3" } }),
    ).rejects.toMatchObject({
      code: "ambiguous_match",
      candidates: [{ id: first.entityId }, { id: second.entityId }],
    });
  });
});

describe("a vendor with a registry entity", () => {
  const uei = "SANDBXACTVE1";

  test("keeps the identifiers that an organization supplies only for that organization", async () => {
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
    expect(await revealedTin(app.verification, caller, entityId)).toBe("500000001");
    await expect(revealedTin(app.verification, other, entityId)).rejects.toMatchObject({ code: "not_found" });
  });

  test("replaces a remembered TIN when another is supplied and checked, and an entity that carries it comes first", async () => {
    const caller = callerFor("org_replaces", "sandbox");
    const first = await app.verification.resolveVendor({ caller, identifiers: { uei, tin: "600000001" } });
    const before = await subjectOf(app.verification, caller, first.entityId);
    await app.verification.resolveVendor({ caller, identifiers: { uei, tin: "600000002" }, checksTin: true });
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

describe("a vendor given by its entity's id", () => {
  const refusal = (code: string, entityId = "") => ({ code, entityId });

  test("gets what it lacks, and its first name, although no identifier named it", async () => {
    const caller = callerFor("org_given");
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Only Name Inc" });
    const entityId = entity!.id;
    const identifiers = { uei: "ABCDEFGHJK31", tin: "310000001" };
    const resolved = await app.verification.resolveVendor({ caller, entityId, identifiers, legalName: "Ignored" });
    expect(resolved).toMatchObject({ entityId, created: false });
    expect(await subjectOf(app.verification, caller, entityId)).toMatchObject({
      legalName: "Only Name Inc",
      uei: "ABCDEFGHJK31",
      tinHash: resolved.tinHash,
    });
    expect(await versionsOf(caller, entityId)).toEqual([2, 1]);
    const unnamed = await app.verification.resolveVendor({ caller, identifiers: { duns: "310000002" } });
    await app.verification.resolveVendor({ caller, entityId: unnamed.entityId, legalName: "First Name Inc" });
    expect((await subjectOf(app.verification, caller, unnamed.entityId)).legalName).toBe("First Name Inc");
  });

  test("of the registry gets them only for this organization, also one remembered for another vendor", async () => {
    const caller = callerFor("org_given", "sandbox");
    const [active, changing] = await Promise.all(
      ["SANDBXACTVE1", "SANDBXCHNGE1"].map((uei) => app.verification.resolveVendor({ caller, identifiers: { uei } })),
    );
    for (const { entityId } of [active!, changing!]) {
      const resolved = await app.verification.resolveVendor({ caller, entityId, identifiers: { tin: "310000003" } });
      expect(resolved.entityId).toBe(entityId);
      const { entity } = await app.gateway.getEntity({ caller, entityId });
      expect(entity!.identifiers.tin).toBe("****0003");
    }
    const others = await app.gateway.getEntity({ caller: callerFor("org_2", "sandbox"), entityId: active!.entityId });
    expect(others.entity!.identifiers).not.toHaveProperty("tin");
  });

  test.each([{ uei: "ABCDEFGHJK32" }, { cage: "3ABC3" }, { duns: "310000005" }, { tin: "310000006" }])(
    "is refused with an identifier that another one is given between its reading and its writing: %j",
    async (identifiers) => {
      const caller = callerFor("org_given_race");
      const names = ["First Inc", "Second Inc"].map((name) => `${name} ${Object.keys(identifiers)}`);
      const made = await Promise.all(names.map((legalName) => app.gateway.createEntity({ caller, legalName })));
      const [first, second] = made.map(({ entity }) => entity!.id);
      const give = ({ verification }: Pick<TestApplication, "verification">, entityId = "") =>
        verification.resolveVendor({ caller, entityId, identifiers });
      await paused(async (replica, whilePaused) => {
        const refused = expect(give(replica, second)).rejects.toMatchObject(refusal("entity_exists", first));
        await whilePaused(() => give(app, first));
        await refused;
      });
      expect(await versionsOf(caller, second!)).toEqual([1]);
    },
  );

  test("is refused with another vendor's identifier, with a contradicting one, and where it can't be seen", async () => {
    const caller = callerFor("org_given_refused", "sandbox");
    const registry = await app.verification.resolveVendor({ caller, identifiers: { uei: "SANDBXACTVE1" } });
    const { entity } = await app.gateway.createEntity({
      caller,
      legalName: "Alone Inc",
      identifiers: { cage: "3ABC1" },
    });
    const entityId = entity!.id;
    const resolve = (identifiers: object, by = caller) =>
      app.verification.resolveVendor({ caller: by, entityId, identifiers });
    await expect(resolve({ uei: "SANDBXACTVE1" })).rejects.toMatchObject(refusal("entity_exists", registry.entityId));
    await expect(resolve({ cage: "3ABC2" })).rejects.toMatchObject(refusal("entity_exists", entityId));
    await expect(resolve({ tin: "310000004" }, callerFor("org_stranger", "sandbox"))).rejects.toMatchObject({
      code: "entity_not_found",
    });
    expect(await versionsOf(caller, entityId)).toEqual([1]);
  });
});

describe("a TIN that a call supplies", () => {
  const uei = "SANDBXNACTV1";
  const caller = callerFor("org_supplies", "sandbox");
  const supply = (tin: string) =>
    app.verification.resolveVendor({ caller, identifiers: { uei, tin }, checksTin: true });

  test("gets its own fingerprint, even if concurrent calls supply others", async () => {
    const expected = new Map<string, Buffer>();
    for (const tin of ["800000001", "800000002"]) expected.set(tin, Buffer.from((await supply(tin)).tinHash));
    const calls = Array.from({ length: 12 }, (_, index) => `80000000${1 + (index % 2)}`);
    const resolved = await Promise.all(calls.map(supply));
    expect(resolved.map(({ tinHash }) => Buffer.from(tinHash))).toEqual(calls.map((tin) => expected.get(tin)));
    const { entityId, tinHash } = await supply("800000001");
    expect((await subjectOf(app.verification, caller, entityId)).tinHash).toEqual(tinHash);
    const without = await app.verification.resolveVendor({ caller, identifiers: { uei } });
    expect([without.entityId, without.tinHash]).toEqual([entityId, new Uint8Array()]);
  });

  test("that an entity carries, or that creates one, has the fingerprint that is read later", async () => {
    const made = await app.verification.resolveVendor({ caller, identifiers: { tin: "800000003" } });
    const again = await app.verification.resolveVendor({ caller, identifiers: { tin: "800000003" } });
    const { tinHash } = await subjectOf(app.verification, caller, made.entityId);
    expect([made.tinHash, again.tinHash]).toEqual([tinHash, tinHash]);
  });

  test("and that replaced the expected one is neither revealed nor recorded as revealed", async () => {
    const { entityId, tinHash: first } = await supply("800000001");
    const { tinHash: second } = await supply("800000002");
    const reveals = () => app.sandbox.tinReveals.countDocuments({ organization_id: "org_supplies" });
    for (const tinHash of [first, new Uint8Array()]) {
      await expect(app.verification.revealTin({ caller, entityId, tinHash })).rejects.toMatchObject({
        code: "not_found",
      });
    }
    expect(await reveals()).toBe(0);
    expect((await app.verification.revealTin({ caller, entityId, tinHash: second })).tin).toBe("800000002");
    expect(await reveals()).toBe(1);
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

  test("change an own entity once, with a snapshot, and an older answer changes nothing", async () => {
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

  test("that are equal still count as newer: earlier answers change nothing if they arrive late", async () => {
    const caller = callerFor("org_late_facts");
    const identifiers = { duns: "700000002" };
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Late facts", identifiers });
    const entityId = entity!.id;
    const update = (at: string, set?: object, provider = "sam_gov_api") =>
      app.verification.updateFromProvider({ caller, entityId, ...facts(new Date(at), set), provider });
    const seenNow = async () => (await app.gateway.getEntity({ caller, entityId })).entity!.samGov!.registrationStatus;
    const onlyStatus = (registrationStatus: string) => ({
      registrationStatus,
      legalName: "",
      cage: "",
      expirationDate: "",
      entityType: "",
    });
    await update("2026-05-03", onlyStatus("inactive"));
    expect(await update("2026-05-02", onlyStatus("active"))).toMatchObject({ changed: false });
    expect(await seenNow()).toBe("inactive");
    await update("2026-05-04");
    await update("2026-05-06");
    await update("2026-05-08", {}, "sam_gov_extract");
    for (const late of ["2026-05-05", "2026-05-07"]) {
      expect(await update(late, { registrationStatus: "expired" })).toMatchObject({ changed: false });
    }
    expect(await seenNow()).toBe("active");
    expect(await versionsOf(caller, entityId)).toEqual([2, 1]);
    expect(await update("2026-05-09", { registrationStatus: "expired" })).toMatchObject({ changed: true });
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

describe("the subject that is returned with a vendor is the one that is read later", () => {
  const live = callerFor("org_subjects");
  const sandbox = callerFor("org_subjects", "sandbox");
  const uei = "SANDBXACTVE1";
  const own = { duns: "900000001" };
  // In this order: each call finds what those before it have made.
  test.each([
    ["of a new entity", live, { identifiers: own }],
    ["of an own entity that lacks nothing", live, { identifiers: own }],
    ["of an own entity that gets its first name", live, { identifiers: own, legalName: "Named Inc" }],
    ["of an own entity that gets a TIN", live, { identifiers: { ...own, tin: "900000002" } }],
    ["of an own entity that carries a TIN", live, { identifiers: own }],
    ["of an own entity named by its TIN", live, { identifiers: { tin: "900000002" } }],
    ["of a registry entity", sandbox, { identifiers: { uei } }],
    ["of a registry entity whose TIN is remembered now", sandbox, { identifiers: { uei, tin: "900000003" } }],
    ["of a registry entity whose TIN was remembered before", sandbox, { identifiers: { uei } }],
    ["of a registry entity whose remembered TIN is given again", sandbox, { identifiers: { uei, tin: "900000003" } }],
    ["of a registry entity named by what is remembered", sandbox, { identifiers: { tin: "900000003" } }],
  ])("%s", async (_name, caller, vendor) => {
    const { entityId, subject } = await app.verification.resolveVendor({ caller, ...vendor });
    expect(subject).toMatchObject({ entityId });
    expect(subject).toEqual(await subjectOf(app.verification, caller, entityId));
  });

  test("also where calls of several organizations name one entity at the same time", async () => {
    const callers = Array.from({ length: 20 }, (_, n) => callerFor(`org_subjects_${n}`, "sandbox"));
    const resolve = (identifiers: (n: number) => object) =>
      Promise.all(callers.map((caller, n) => app.verification.resolveVendor({ caller, identifiers: identifiers(n) })));
    await resolve((n) => (n % 2 ? { uei, tin: `9100000${10 + n}` } : { uei }));
    const resolved = await resolve(() => ({ uei }));
    for (const [n, { entityId, subject }] of resolved.entries()) {
      expect(subject!.tinHash.length > 0).toBe(n % 2 === 1);
      expect(subject).toEqual(await subjectOf(app.verification, callers[n]!, entityId));
    }
  });
});
