import { beforeEach, describe, expect, test } from "@jest/globals";
import type { IdentifierMap } from "@vvs/identifiers";
import { newId } from "@vvs/ids";
import { callerFor, startTestApplication, subjectOf, type TestApplication } from "../testing/application.ts";
import { createLoads, pausingCommit } from "../testing/loads.ts";

const REGISTERED = "ABCDEFGHJK71";
const app = await startTestApplication();
const loads = createLoads(app);
await loads.load([{ 1: REGISTERED, 12: "REGISTERED LLC" }]);
let caller: ReturnType<typeof callerFor>;
let organization = 0;
beforeEach(() => {
  caller = callerFor(`org_${++organization}`);
});

const TIN = "123456789";
const page = { limit: 100 };
const isTheTin = { code: "invalid_request", details: [{ path: "external_id" }] };
const isTheNumber = { code: "invalid_request", details: [{ path: "identifiers.tin" }] };

const create = async (fields: { legalName?: string; externalId?: string; identifiers?: IdentifierMap } = {}) =>
  (await app.gateway.createEntity({ caller, legalName: "Own LLC", ...fields })).entity!;
const registered = async (by = caller) =>
  (await app.gateway.lookUp({ caller: by, identifiers: { uei: REGISTERED } })).entity!;
const number = (entityId: string, externalId: string, by = caller) =>
  app.gateway.setExternalId({ caller: by, entityId, externalId });
const numberOf = async (entityId: string, by = caller) =>
  (await app.gateway.getEntity({ caller: by, entityId })).entity!.externalId;
const list = async (externalId: string, by = caller) =>
  (await app.gateway.listEntities({ caller: by, externalId, page })).entities.map(({ id }) => id);
/** Returns whether a write of a guard waits for a transaction that wrote the same one. */
async function isGuardAwaited(): Promise<boolean> {
  const ns = app.live.identifierGuards.namespace;
  const waiting = await app.client.db("admin").command({ currentOp: true, ns, writeConflicts: { $gt: 0 } });
  return waiting.inprog.length > 0;
}
type Replica = Awaited<ReturnType<TestApplication["serve"]>>;

const versions = async (entityId: string) =>
  (await app.gateway.listSnapshots({ caller, entityId, page })).snapshots.length;

describe("an organization's own number of an entity", () => {
  test("is shown wherever the entity is, and is in no snapshot", async () => {
    const own = await create({ externalId: "V-100", identifiers: { duns: "150483782" } });
    expect(own.externalId).toBe("V-100");
    expect(await numberOf(own.id)).toBe("V-100");
    const found = await app.gateway.lookUp({ caller, identifiers: { duns: "150483782" } });
    expect(found.entity!.externalId).toBe("V-100");
    const { entities } = await app.gateway.listEntities({ caller, page });
    expect(entities.map(({ externalId }) => externalId)).toEqual(["V-100"]);
    await number(own.id, "V-101");
    expect(JSON.stringify(await app.live.snapshots.find({ entity_id: own.id }).toArray())).not.toContain("V-10");
    expect(await versions(own.id)).toBe(1);
    expect((await subjectOf(app.verification, caller, own.id)).externalId).toBe("V-101");
  });

  test("of a registry entity is seen by this organization and environment only", async () => {
    const { id } = await registered();
    const stranger = callerFor("org_stranger");
    expect((await number(id, "V-7")).entity!.externalId).toBe("V-7");
    await number(id, "S-9", stranger);
    expect([await numberOf(id), await numberOf(id, stranger)]).toEqual(["V-7", "S-9"]);
    expect((await registered()).externalId).toBe("V-7");
    expect((await app.gateway.lookUp({ caller, fuzzy: true, legalName: "Registered LLC" })).entity!.externalId).toBe(
      "V-7",
    );
    expect((await subjectOf(app.verification, caller, id)).externalId).toBe("V-7");
    expect([await list("V-7"), await list("V-7", stranger)]).toEqual([[id], []]);
    expect(await list("V-7", callerFor(caller.tenant.organizationId, "sandbox"))).toEqual([]);
    await number(id, "");
    expect([await numberOf(id), await numberOf(id, stranger)]).toEqual(["", "S-9"]);
    expect(await list("V-7")).toEqual([]);
  });

  test.each(["unknown", "another organization's"])("can't be given to an entity that is %s", async (kind) => {
    const entityId = kind === "unknown" ? newId("ent") : (await create()).id;
    const stranger = callerFor("org_stranger");
    await expect(number(entityId, "V-1", stranger)).rejects.toMatchObject({ code: "entity_not_found" });
    expect(await app.live.remembered.countDocuments({ entity_id: entityId })).toBe(0);
  });

  test("is not unique, and a list of the entities with one is paged newest first", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      app.clock.now = new Date(app.clock.now.getTime() + (index % 2));
      ids.push((await create({ legalName: `Twin ${index}`, externalId: "TWIN" })).id);
    }
    await create({ legalName: "Other", externalId: "OTHER" });
    const pages: string[][] = [];
    let after: Awaited<ReturnType<typeof app.gateway.listEntities>>["next"];
    do {
      const answer = await app.gateway.listEntities({ caller, externalId: "TWIN", page: { limit: 2, after } });
      pages.push(answer.entities.map(({ id }) => id));
      after = answer.next;
    } while (after);
    expect(pages.map((ids) => ids.length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(ids.toSorted().toReversed());
  });

  test("is read from an index, one page at a time", async () => {
    for (let index = 0; index < 5; index++) await create({ legalName: `Twin ${index}`, externalId: "TWIN" });
    const filter = { organization_id: caller.tenant.organizationId, external_id: "TWIN" };
    const plan = await app.live.remembered.find(filter).sort({ created_at: -1, _id: -1 }).limit(2).explain();
    expect(plan.executionStats).toMatchObject({ totalKeysExamined: 2, totalDocsExamined: 2 });
  });

  test("of a registry entity stays when an own one takes it over, until that gets its own", async () => {
    const uei = `ABCDEFGHJ${100 + organization}`;
    const own = await create({ identifiers: { uei } });
    const registryId = newId("ent");
    const ofRegistry = { _id: `${caller.tenant.organizationId}/${registryId}/external_id`, entity_id: registryId };
    const given = {
      organization_id: caller.tenant.organizationId,
      type: "external_id",
      created_at: new Date(),
    } as const;
    await app.live.remembered.insertOne({ ...ofRegistry, ...given, external_id: "BEFORE" });
    const { claims: _claims, content_hash: _hash, ...stored } = (await app.live.entities.findOne({ _id: own.id }))!;
    await app.live.entities.insertOne({ ...stored, _id: registryId, organization_id: null });
    await app.live.entities.updateOne({ _id: own.id }, { $set: { registry_entity_id: registryId } });
    expect([await numberOf(own.id), await list("BEFORE")]).toEqual(["BEFORE", [own.id]]);
    await number(own.id, "AFTER");
    expect([await numberOf(own.id), await list("BEFORE"), await list("AFTER")]).toEqual(["AFTER", [], [own.id]]);
    await number(own.id, "");
    expect(await numberOf(own.id)).toBe("");
  });

  test("of a monitor of a registry entity is compared with the TIN of the own one that took it over", async () => {
    const own = await create({ identifiers: { uei: `ABCDEFGHJ${200 + organization}`, tin: TIN } });
    const registryId = newId("ent");
    const { claims: _claims, content_hash: _hash, ...stored } = (await app.live.entities.findOne({ _id: own.id }))!;
    await app.live.entities.insertOne({ ...stored, _id: registryId, organization_id: null });
    await app.live.entities.updateOne({ _id: own.id }, { $set: { registry_entity_id: registryId } });
    const request = { caller, entityId: registryId };
    await expect(app.gateway.getEntity(request)).rejects.toMatchObject({ code: "entity_not_found" });
    expect((await app.gateway.getEntity({ ...request, takenOver: true })).entity?.id).toBe(own.id);
    const numbered = app.gateway.getEntity({ ...request, takenOver: true, externalId: TIN });
    await expect(numbered).rejects.toMatchObject(isTheTin);
  });
});

describe("creating the same entity again", () => {
  const content = { legalName: "Same LLC", identifiers: { cage: "7ABC1" } };

  test("with another number sets it, and writes no snapshot", async () => {
    const first = await create({ ...content, externalId: "V-1" });
    expect(await create({ ...content, externalId: "V-2" })).toEqual({ ...first, externalId: "V-2" });
    expect(await versions(first.id)).toBe(1);
  });

  test("without a number keeps it", async () => {
    const first = await create({ ...content, externalId: "V-1" });
    expect(await create(content)).toEqual(first);
  });

  test("with other content is refused, and sets nothing", async () => {
    const first = await create({ ...content, externalId: "V-1" });
    const other = create({ ...content, legalName: "Other LLC", externalId: "V-2" });
    await expect(other).rejects.toMatchObject({ code: "entity_exists", entityId: first.id });
    expect(await numberOf(first.id)).toBe("V-1");
  });

  test.each([
    ["a new entity", false, "V@1"],
    ["an existing entity", true, "V@1"],
    ["an existing entity, without a number", true, ""],
  ])("under one Idempotency-Key shows the number of the first answer: %s", async (_name, exists, externalId) => {
    if (exists) await create({ ...content, externalId: "V@0" });
    const idempotency = { apiKeyId: "key_1", path: "/v1/entities", key: newId("key"), bodyHash: new Uint8Array([1]) };
    const call = { caller, ...content, externalId, idempotency };
    const first = await app.gateway.createEntity(call);
    await number(first.entity!.id, "V@2");
    const again = await app.gateway.createEntity(call);
    expect(again).toMatchObject({ replayed: true, entity: { externalId: externalId || "V@0" } });
  });
});

describe("a TIN is never an entity's number", () => {
  test("when both are supplied together", async () => {
    const call = create({ identifiers: { tin: TIN }, externalId: "12-3456789" });
    await expect(call).rejects.toMatchObject(isTheTin);
    expect(await list("12-3456789")).toEqual([]);
  });

  test("when a monitor has it as its number and the TIN is supplied later, for this organization only", async () => {
    const own = await create({ identifiers: { duns: "150483783" } });
    const { id } = await registered();
    const numberMonitor = (entityId: string, externalId: string) =>
      app.gateway.getEntity({ caller, entityId, externalId });
    for (const entityId of [own.id, id]) {
      // The number may also be changed afterwards: events with it remain.
      for (const externalId of ["V-12-3456789", "V-12-3456789", "V-8"]) await numberMonitor(entityId, externalId);
      expect(await numberOf(entityId)).toBe("");
    }
    const stranger = callerFor("org_unnumbered");
    for (const identifiers of [
      { duns: "150483783", tin: TIN },
      { uei: REGISTERED, tin: TIN },
    ]) {
      await expect(app.verification.resolveVendor({ caller, identifiers })).rejects.toMatchObject(isTheNumber);
    }
    const named = { uei: REGISTERED, tin: TIN };
    await expect(app.verification.resolveVendor({ caller: stranger, identifiers: named })).resolves.toBeDefined();
    expect(await list("V-12-3456789")).toEqual([]);
  });

  test("of monitors are noted up to a limit", async () => {
    const { id: entityId } = await create();
    const numberMonitor = (at: number) =>
      app.gateway.getEntity({ caller, entityId, externalId: `${200_000_000 + at}` });
    await numberMonitor(0);
    const monitor_numbers = Array.from({ length: 2_000 }, (_, at) => `${200_000_000 + at}`);
    const noted = { entity_id: entityId, type: "monitor_numbers" } as const;
    expect((await app.live.remembered.updateOne(noted, { $set: { monitor_numbers } })).matchedCount).toBe(1);
    await expect(numberMonitor(2_000)).rejects.toMatchObject(isTheTin);
    await expect(numberMonitor(7)).resolves.toBeDefined();
  });

  test("when the TIN is supplied later", async () => {
    const own = await create({ identifiers: { duns: "150483782" }, externalId: "12-3456789" });
    const { id } = await registered();
    await number(id, TIN);
    for (const identifiers of [
      { duns: "150483782", tin: TIN },
      { uei: REGISTERED, tin: TIN },
    ]) {
      await expect(app.verification.resolveVendor({ caller, identifiers })).rejects.toMatchObject(isTheNumber);
    }
    for (const entityId of [own.id, id]) {
      expect((await app.gateway.getEntity({ caller, entityId })).entity!.identifiers.tin).toBeUndefined();
    }
  });

  test("while the keys that hash TINs are rotated", async () => {
    const own = await create({ identifiers: { tin: TIN } });
    const [key] = app.rings.tinHashKeys;
    const newer = { ...key!, id: "h2", key: Buffer.alloc(32, 2) };
    const replica = await app.serve({ ...app.rings, tinHashKeys: [newer, key!] });
    const refused = replica.gateway.setExternalId({ caller, entityId: own.id, externalId: TIN });
    await expect(refused).rejects.toMatchObject(isTheTin);
  });

  describe.each(["own", "registry"])("of an entity of this kind: %s", (kind) => {
    const vendor = async () => {
      if (kind === "registry") return { entityId: (await registered()).id, named: { uei: REGISTERED } };
      return { entityId: (await create({ identifiers: { duns: "150483782" } })).id, named: { duns: "150483782" } };
    };

    test.each(["123456789", "12-3456789", "123 45 6789", "V123456789"])("when it has that TIN: %s", async (written) => {
      const { entityId, named } = await vendor();
      await app.verification.resolveVendor({ caller, identifiers: { ...named, tin: TIN } });
      await expect(number(entityId, written)).rejects.toMatchObject(isTheTin);
      const ofMonitor = app.gateway.getEntity({ caller, entityId, externalId: written });
      await expect(ofMonitor).rejects.toMatchObject(isTheTin);
      expect(await numberOf(entityId)).toBe("");
      await number(entityId, "123456780");
      expect(await numberOf(entityId)).toBe("123456780");
    });

    test.each(["the number", "the TIN"])("when it gets both at the same moment, %s first", async (first) => {
      const { entityId, named } = await vendor();
      const pauses = [pausingCommit(app.client), pausingCommit(app.client)] as const;
      const replicas = await Promise.all(pauses.map(({ client }) => app.serve({ ...app.rings, client })));
      const setNumber = ({ gateway }: Replica) => gateway.setExternalId({ caller, entityId, externalId: TIN });
      const supplyTin = ({ verification }: Replica) =>
        verification.resolveVendor({ caller, identifiers: { ...named, tin: TIN } });
      const [earlier, later] = first === "the number" ? [setNumber, supplyTin] : [supplyTin, setNumber];
      const earlierCall = earlier(replicas[0]!);
      await pauses[0].committing;
      const laterCall = later(replicas[1]!);
      const refused = expect(laterCall).rejects.toMatchObject(first === "the number" ? isTheNumber : isTheTin);
      // Where it does not wait for the earlier one, it has read what was stored before.
      const isCommitting = pauses[1].committing.then(() => true);
      while (!(await Promise.race([isCommitting, isGuardAwaited()])));
      pauses[0].commit();
      await earlierCall;
      pauses[1].commit();
      await refused;
    });
  });
});
