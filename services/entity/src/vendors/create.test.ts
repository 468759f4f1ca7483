import { describe, expect, test } from "@jest/globals";
import { callerFor, startTestApplication, subjectOf } from "../testing/application.ts";

const app = await startTestApplication({ sandboxEntityCap: 2 });

const page = { limit: 100 };
const address = { line1: "12 Oak St", city: "Asheville", state: "NC", zip: "28801", country: "USA" };

describe("creating an entity", () => {
  test("returns the whole entity, inactive and with its TIN masked, and writes its first snapshot", async () => {
    const caller = callerFor("org_a");
    const identifiers = { uei: "ABCDEFGHJK11", tin: "123456789" };
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Blue Ridge LLC", identifiers, address });
    expect(entity).toMatchObject({
      legalName: "Blue Ridge LLC",
      identifiers: { uei: "ABCDEFGHJK11", tin: "****6789" },
      samGov: { registrationStatus: "inactive", cage: "", expirationDate: "", entityType: "" },
      addresses: [{ ...address, type: "physical" }],
      sources: [{ name: "organization", version: "" }],
    });
    const { snapshots } = await app.gateway.listSnapshots({ caller, entityId: entity!.id, page });
    expect(snapshots).toHaveLength(1);
    expect(snapshots[0]).toMatchObject({
      entityId: entity!.id,
      organizationId: "org_a",
      version: 1,
      actor: "key_1",
      requestId: "req_1",
      previousHash: "",
      entity: { id: entity!.id, confidence: 1, identifiers: { tin: "****6789" } },
    });
  });

  test("with identical content returns the existing entity without a new snapshot, even for concurrent calls", async () => {
    const caller = callerFor("org_same");
    const content = { caller, legalName: "Twin Co", identifiers: { duns: "111111111", tin: "222222222" }, address };
    const created = await Promise.all(Array.from({ length: 8 }, () => app.gateway.createEntity(content)));
    const again = await app.gateway.createEntity(content);
    const ids = new Set([...created, again].map(({ entity }) => entity!.id));
    expect(ids.size).toBe(1);
    const { snapshots } = await app.gateway.listSnapshots({ caller, entityId: again.entity!.id, page });
    expect(snapshots).toHaveLength(1);
    const nameless = { caller, legalName: "No Identifiers Inc" };
    const first = await app.gateway.createEntity(nameless);
    expect((await app.gateway.createEntity(nameless)).entity!.id).toBe(first.entity!.id);
  });

  test.each([["uei"], ["cage"], ["duns"], ["tin"]] as const)(
    "with other content and the %s of a visible entity is refused, naming that entity",
    async (type) => {
      const caller = callerFor(`org_${type}`);
      const values = { uei: "ABCDEFGHJK12", cage: "1ABC2", duns: "333333333", tin: "444444444" };
      const identifiers = { [type]: values[type] };
      const { entity } = await app.gateway.createEntity({ caller, legalName: "First", identifiers });
      await expect(app.gateway.createEntity({ caller, legalName: "Second", identifiers })).rejects.toMatchObject({
        code: "entity_exists",
        entityId: entity!.id,
      });
      const elsewhere = await app.gateway.createEntity({
        caller: callerFor("org_x"),
        legalName: "Second",
        identifiers,
      });
      expect(elsewhere.entity!.id).not.toBe(entity!.id);
    },
  );

  test("is repeated under one Idempotency-Key, and refused with another body", async () => {
    const caller = callerFor("org_idem");
    const idempotency = { apiKeyId: "key_1", path: "/v1/entities", key: "k", bodyHash: new Uint8Array([1]) };
    const first = await app.gateway.createEntity({ caller, legalName: "Once Inc", idempotency });
    const second = await app.gateway.createEntity({ caller, legalName: "Once Inc", idempotency });
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(second.entity).toEqual(first.entity);
    const other = { ...idempotency, bodyHash: new Uint8Array([2]) };
    await expect(app.gateway.createEntity({ caller, legalName: "Twice", idempotency: other })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
  });

  test("returns its first answer again, even after the entity changed", async () => {
    const caller = callerFor("org_first_answer");
    const identifiers = { uei: "ABCDEFGHJK14" };
    const idempotency = { apiKeyId: "key_1", path: "/v1/entities", key: "k1", bodyHash: new Uint8Array([1]) };
    const content = { caller, legalName: "Before LLC", identifiers };
    const first = await app.gateway.createEntity({ ...content, idempotency });
    await app.verification.resolveVendor({ caller, identifiers: { ...identifiers, duns: "666666666" } });
    const again = await app.gateway.createEntity({ ...content, idempotency });
    expect(again).toMatchObject({ replayed: true, entity: first.entity });
    const sameContent = { ...idempotency, key: "k2" };
    const now = await app.gateway.createEntity({ ...content, idempotency: sameContent });
    expect(now).toMatchObject({
      replayed: false,
      entity: { id: first.entity!.id, identifiers: { duns: "666666666" } },
    });
    expect((await app.gateway.createEntity({ ...content, idempotency: sameContent })).entity).toEqual(now.entity);
  });

  test("with identical content is never refused, even if calls with other content come between", async () => {
    for (let round = 0; round < 10; round++) {
      const caller = callerFor(`org_race_${round}`);
      const identifiers = { cage: "1RACE" };
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const legalName = index % 4 === 3 ? `Other ${index}` : "Racing Co";
          const code = (error: { code: string }) => error.code;
          return {
            legalName,
            outcome: await app.gateway.createEntity({ caller, legalName, identifiers }).then(() => "made", code),
          };
        }),
      );
      const ofOneContent = outcomes.filter(({ legalName }) => legalName === "Racing Co").map(({ outcome }) => outcome);
      expect(new Set(ofOneContent).size).toBe(1);
    }
  });

  test("is refused over the sandbox's cap, which does not count in live", async () => {
    const sandbox = callerFor("org_cap", "sandbox");
    for (const legalName of ["One", "Two"]) await app.gateway.createEntity({ caller: sandbox, legalName });
    const third = app.gateway.createEntity({ caller: sandbox, legalName: "Three" });
    await expect(third).rejects.toMatchObject({ code: "limit_exceeded" });
    for (const legalName of ["One", "Two", "Three"]) {
      await app.gateway.createEntity({ caller: callerFor("org_cap"), legalName });
    }
  });
});

describe("the cap", () => {
  test.each(["sandbox", "live"] as const)(
    "of %s lets exactly its number of concurrent creations through, over two replicas and both ways to create",
    async (environment) => {
      const replica = await app.serve({ ...app.rings });
      const caller = callerFor("org_cap_race", environment, 2);
      const create = (index: number): Promise<unknown> => {
        const duns = String(700_000_000 + index);
        return index % 2
          ? replica.gateway.createEntity({ caller, legalName: `Racing ${index}`, identifiers: { duns } })
          : app.verification.resolveVendor({ caller, identifiers: { duns } });
      };
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => create(index)));
      const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
      expect(refused).toEqual(Array(18).fill("limit_exceeded"));
      expect((await app.gateway.listEntities({ caller, page })).entities).toHaveLength(2);
    },
  );

  test("of live is the plan's, also after callers that do not know it", async () => {
    for (const legalName of ["One", "Two", "Three"])
      await app.gateway.createEntity({ caller: callerFor("org_plan"), legalName });
    const capped = (limit: number) =>
      app.gateway.createEntity({ caller: callerFor("org_plan", "live", limit), legalName: `Beyond ${limit}` });
    await expect(capped(3)).rejects.toMatchObject({ code: "limit_exceeded" });
    await capped(4);
  });

  test("counts an entity once that concurrent calls create", async () => {
    const caller = callerFor("org_cap_twins", "sandbox");
    const twin = () => app.gateway.createEntity({ caller, legalName: "Twin Co", identifiers: { duns: "711111111" } });
    const ids = (await Promise.all([twin(), twin()])).map(({ entity }) => entity!.id);
    expect(new Set(ids).size).toBe(1);
    await app.gateway.createEntity({ caller, legalName: "Second Co" });
    const third = app.gateway.createEntity({ caller, legalName: "Third Co" });
    await expect(third).rejects.toMatchObject({ code: "limit_exceeded" });
    expect((await twin()).entity!.id).toBe(ids[0]);
  });
});

test("another organization, and the other environment, see nothing of a created entity", async () => {
  const owner = callerFor("org_owner");
  const identifiers = { uei: "ABCDEFGHJK13", tin: "555555555" };
  const { entity } = await app.gateway.createEntity({ caller: owner, legalName: "Hidden Works", identifiers, address });
  const entityId = entity!.id;
  const absent = { code: "entity_not_found", message: "No such entity." };
  for (const caller of [callerFor("org_other"), callerFor("org_owner", "sandbox")]) {
    await expect(app.gateway.getEntity({ caller, entityId })).rejects.toMatchObject(absent);
    await expect(app.gateway.listSnapshots({ caller, entityId, page })).rejects.toMatchObject(absent);
    expect((await subjectOf(app.verification, caller, entityId)).entityId).toBe("");
    await expect(app.verification.revealTin({ caller, entityId })).rejects.toMatchObject(absent);
    expect((await app.gateway.listEntities({ caller, page })).entities).toEqual([]);
    for (const criteria of [
      { identifiers: { uei: identifiers.uei } },
      { identifiers: { tin: identifiers.tin } },
      { legalName: "Hidden Works" },
      { address: "12 Oak St, Asheville, NC 28801" },
    ]) {
      for (const fuzzy of [false, true]) {
        await expect(app.gateway.lookUp({ caller, fuzzy, ...criteria })).rejects.toMatchObject({
          code: "entity_not_found",
        });
      }
    }
  }
  expect((await app.gateway.listEntities({ caller: owner, page })).entities.map(({ id }) => id)).toEqual([entityId]);
});

test("the database contains no TIN in clear", async () => {
  const caller = callerFor("org_dump");
  const tins = ["987650001", "987650002", "987650003"];
  await app.gateway.createEntity({ caller, legalName: "Sealed Inc", identifiers: { tin: tins[0] } });
  await app.verification.resolveVendor({ caller, identifiers: { tin: tins[1] } });
  const sandbox = callerFor("org_dump", "sandbox");
  await app.verification.resolveVendor({ caller: sandbox, identifiers: { uei: "SANDBXACTVE1", tin: tins[2] } });
  let dump = "";
  for (const environment of ["live", "sandbox"]) {
    const db = app.client.db(`${app.prefix}entity_${environment}`);
    for (const { name } of await db.listCollections().toArray()) {
      const documents = await db.collection(name).find({}, { raw: true }).toArray();
      dump += Buffer.concat(documents as unknown as Buffer[]).toString("latin1");
    }
  }
  expect(dump).toContain("Sealed Inc");
  for (const tin of tins) expect(dump.includes(tin)).toBe(false);
});
