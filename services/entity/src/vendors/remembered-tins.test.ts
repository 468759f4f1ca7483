import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { toProtoEnvironment } from "@vvs/tenant";
import type { CommandStartedEvent } from "mongodb";
import {
  callerFor,
  revealedTin,
  startTestApplication,
  subjectOf,
  type TestApplication,
} from "../testing/application.ts";
import { pausingCommit } from "../testing/loads.ts";

const uri = process.env.MONGODB_URI!;
const app = await startTestApplication({ uri: `${uri}${uri.includes("?") ? "&" : "/?"}monitorCommands=true` });

const uei = "SANDBXACTVE1";
const [A, B, C] = ["110000001", "110000002", "110000003"] as const;
let caller: ReturnType<typeof callerFor>;
let entityId: string;
beforeEach(async () => {
  caller = callerFor(newId("org"), "sandbox");
  entityId = (await app.verification.resolveVendor({ caller, identifiers: { uei } })).entityId;
});

type Replica = Pick<TestApplication, "verification">;

/** A call supplies a TIN; its checks include tin_match or not. */
async function supply(tin: string, checksTin = true, { verification }: Replica = app) {
  return (await verification.resolveVendor({ caller, identifiers: { uei, tin }, checksTin })).tinHash;
}

/** A call supplied the TIN, and it matched. */
async function match(tin: string, { verification }: Replica = app) {
  const tinHash = await supply(tin, true, { verification });
  await verification.recordTinMatch({ caller, entityId, tinHash, tin, supplied: true });
}

const remembered = () => revealedTin(app.verification, caller, entityId);
const isRecorded = async () => (await subjectOf(app.verification, caller, entityId)).tinMatchRecorded;
/** The replaced TINs, oldest first. */
async function replaced(): Promise<string[]> {
  const filter = { organization_id: caller.tenant.organizationId, entity_id: entityId };
  const found = await app.sandbox.tinReplacements.find(filter).sort({ created_at: 1, _id: 1 }).toArray();
  return found.map((each) => `${each.previous_last4} ${each.current_last4}${each.matched ? " matched" : ""}`);
}

describe("of an entity that carries no TIN the organization remembers", () => {
  const rows: [string, (() => Promise<unknown>)[], remembered: string, replaced: string[]][] = [
    ["the first TIN, also of a call that does not check it", [() => supply(A, false)], A, []],
    ["none of a call that does not check it, where there is one", [() => supply(A), () => supply(B, false)], A, []],
    ["the newest checked one while none has matched", [() => supply(A), () => supply(B)], B, ["0001 0002"]],
    ["the one that matched, not a later one that did not", [() => match(A), () => supply(B)], A, []],
    ["the one that matched after another did not", [() => supply(A), () => match(B)], B, ["0001 0002"]],
    ["the newest one that matched", [() => match(A), () => match(B)], B, ["0001 0002 matched"]],
    [
      "an earlier one that matched again",
      [() => match(A), () => match(B), () => match(A)],
      A,
      ["0001 0002 matched", "0002 0001 matched"],
    ],
    ["one once, however often it matches", [() => match(A), () => match(A), () => match(A)], A, []],
    [
      "the first, which matched when nobody supplied it",
      [() => supply(A, false), matchRemembered, () => supply(B)],
      A,
      [],
    ],
  ];
  test.each(rows)("%s", async (_name, steps, tin, replacements) => {
    for (const step of steps) {
      await step();
      app.clock.now = new Date(app.clock.now.getTime() + 1);
    }
    expect(await remembered()).toBe(tin);
    expect(await replaced()).toEqual(replacements);
    const { tinHash } = await subjectOf(app.verification, caller, entityId);
    expect(await app.entityDashboard.getEntity({ caller, entityId })).toMatchObject({ tinFingerprint: tinHash });
    expect((await app.gateway.getEntity({ caller, entityId })).tinFingerprint).toHaveLength(0);
    const found = await app.gateway.lookUp({ caller, identifiers: { tin } });
    expect(found.entity).toMatchObject({ id: entityId, identifiers: { tin: `****${tin.slice(-4)}` } });
    for (const other of [A, B, C].filter((each) => each !== tin)) {
      await expect(app.gateway.lookUp({ caller, identifiers: { tin: other } })).rejects.toMatchObject({
        code: "entity_not_found",
      });
    }
  });

  /** A monitor's run asked with the remembered TIN, and it matched. */
  async function matchRemembered() {
    const { tinHash } = await subjectOf(app.verification, caller, entityId);
    expect(await isRecorded()).toBe(false);
    await app.verification.recordTinMatch({ caller, entityId, tinHash });
    expect(await isRecorded()).toBe(true);
  }
});

describe("a match that is recorded late", () => {
  test("of a remembered TIN gives way to one that matched meanwhile, and replaces one that did not", async () => {
    const tinHash = await supply(A);
    const late = { caller, entityId, tinHash, tin: A };
    await supply(B);
    await app.verification.recordTinMatch(late);
    expect(await remembered()).toBe(A);
    await match(B);
    await app.verification.recordTinMatch(late);
    expect(await remembered()).toBe(B);
  });

  test("without the TIN in clear counts only while the TIN is remembered", async () => {
    const tinHash = await supply(A);
    await supply(B);
    await app.verification.recordTinMatch({ caller, entityId, tinHash });
    expect([await remembered(), await isRecorded()]).toEqual([B, false]);
  });

  test("changes nothing for another organization, nor for an entity that carries a TIN or is not visible", async () => {
    await match(A);
    const stranger = callerFor(newId("org"), "sandbox");
    const tinHash = await supply(A);
    await app.verification.recordTinMatch({ caller: stranger, entityId, tinHash });
    expect((await subjectOf(app.verification, stranger, entityId)).tinHash).toEqual(new Uint8Array());
    const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { tin: B } });
    const own = { caller, entityId: entity!.id, tinHash, tin: C, supplied: true };
    await app.verification.recordTinMatch(own);
    expect(await revealedTin(app.verification, caller, entity!.id)).toBe(B);
    await app.verification.recordTinMatch({ ...own, caller: stranger });
    await app.verification.recordTinMatch({ ...own, entityId: "ent_1" });
    expect(await app.sandbox.remembered.countDocuments({ organization_id: stranger.tenant.organizationId })).toBe(0);
  });
});

describe("two calls at once", () => {
  test("remember one of the TINs that matched, on two replicas", async () => {
    const replica = await app.serve(app.rings);
    for (let round = 0; round < 3; round++)
      await Promise.all([match(A), match(B, replica), supply(C), supply(C, true, replica)]);
    expect([A, B]).toContain(await remembered());
    expect(await isRecorded()).toBe(true);
  });

  test("wait for each other in a process: none of many begins its transaction again", async () => {
    await supply(A);
    let aborted = 0;
    const note = ({ commandName }: CommandStartedEvent) => void (commandName === "abortTransaction" && aborted++);
    app.client.on("commandStarted", note);
    await Promise.all(Array.from({ length: 8 }, (_, index) => supply(`11200000${index}`)));
    app.client.off("commandStarted", note);
    expect(aborted).toBe(0);
    expect(await replaced()).toHaveLength(8);
  });

  test("a TIN that did not match, stored between the other's reading and writing, is judged again", async () => {
    await supply(A);
    const { client, committing, abort, retry } = pausingCommit(app.client);
    const replica = await app.serve({ ...app.rings, client });
    const late = supply(B, true, replica);
    await committing;
    await abort();
    await match(C);
    retry();
    await late;
    expect(await remembered()).toBe(C);
    expect(await replaced()).toEqual(["0001 0003"]);
  });
});

test("a TIN that was stored without whether it matched may have: only a match replaces it", async () => {
  await supply(A);
  const key = { organization_id: caller.tenant.organizationId, type: "tin" as const };
  await app.sandbox.remembered.updateOne(key, { $unset: { matched: "" } });
  expect(await isRecorded()).toBe(false);
  await supply(B);
  expect(await remembered()).toBe(A);
  await match(B);
  expect(await remembered()).toBe(B);
});

test("what is remembered of a registry entity goes by the rule for the own entity that took it over", async () => {
  await match(A);
  const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { cage: "4XYZ1" } });
  await app.sandbox.entities.updateOne({ _id: entity!.id }, { $set: { registry_entity_id: entityId } });
  const resolve = async (tin: string) =>
    (await app.verification.resolveVendor({ caller, identifiers: { cage: "4XYZ1", tin }, checksTin: true })).tinHash;
  await resolve(B);
  expect(await revealedTin(app.verification, caller, entity!.id)).toBe(A);
  const matched = { caller, entityId: entity!.id, tinHash: await resolve(C), tin: C, supplied: true };
  await app.verification.recordTinMatch(matched);
  await app.verification.recordTinMatch(matched);
  expect(await revealedTin(app.verification, caller, entity!.id)).toBe(C);
  expect((await subjectOf(app.verification, caller, entity!.id)).tinMatchRecorded).toBe(true);
});

test("a TIN that is the entity's external_id is refused, also where it would not be remembered", async () => {
  await match(A);
  await app.gateway.setExternalId({ caller, entityId, externalId: `V-${B}` });
  for (const checksTin of [true, false])
    await expect(supply(B, checksTin)).rejects.toMatchObject({ code: "invalid_request" });
});

describe("replaced TINs", () => {
  test("are listed only for their organization, masked, newest first, in pages", async () => {
    for (const tin of [A, B, C]) {
      app.clock.now = new Date(app.clock.now.getTime() + 1);
      await match(tin);
    }
    const dashboard = app.entityDashboard;
    const first = await dashboard.listTinReplacements({ caller, entityId, page: { limit: 1 } });
    expect(first.replacements).toMatchObject([
      { previous: "****0002", current: "****0003", matched: true, actor: "key_1", requestId: "req_1", entityId },
    ]);
    const second = await dashboard.listTinReplacements({ caller, entityId, page: { limit: 1, after: first.next! } });
    expect(second.replacements).toMatchObject([{ previous: "****0001", current: "****0002" }]);
    expect(second.next).toBeUndefined();
    const stranger = callerFor(newId("org"), "sandbox");
    const others = await dashboard.listTinReplacements({ caller: stranger, entityId, page: { limit: 10 } });
    expect(others.replacements).toEqual([]);
  });

  test("are returned for the audit log until they are marked as being in it", async () => {
    await match(A);
    await match(B);
    const organizationId = caller.tenant.organizationId;
    const take = async (recorded: string[] = []) => {
      const request = { environment: toProtoEnvironment("sandbox"), recorded };
      const { replacements } = await app.verification.takeTinReplacements(request);
      return replacements.filter((each) => each.organizationId === organizationId);
    };
    const [taken] = await take();
    expect(taken).toMatchObject({ organizationId, entityId, previous: "****0001", current: "****0002" });
    expect(await take()).toEqual([taken]);
    expect(await take([taken!.id])).toEqual([]);
    expect(await replaced()).toHaveLength(1);
  });
});
