import { beforeEach, describe, expect, test } from "@jest/globals";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(() => loads.clear());

const caller = callerFor("org_named");
const uei = "ABCDEFGHJK51";
const row = { 1: uei, 12: "KESTREL HOLDINGS, LLC", 13: "LORWIN MARINE" };
const resolve = (legalName: string, by: { entityId?: string; identifiers?: object } = { identifiers: { uei } }) =>
  app.verification.resolveVendor({ caller, legalName, comparesName: true, ...by });
const agrees = async (...given: Parameters<typeof resolve>) => (await resolve(...given)).nameAgrees;

describe("the name of a call", () => {
  test.each([
    ["Kestrel Holdings", true],
    ["Lorwin Marine", true],
    ["Kestrel Holdings Inc", false],
    ["Kestrel Marine", false],
    ["", undefined],
  ])("%s, about a vendor of the registry, agrees: %s", async (legalName, expected) => {
    await loads.load([row]);
    const { entityId, nameAgrees } = await resolve(legalName);
    expect(nameAgrees).toBe(expected);
    expect(await agrees(legalName, { entityId })).toBe(expected);
    expect((await resolve(legalName)).entityId).toBe(entityId);
  });

  test("is compared only where the call asks for it", async () => {
    await loads.load([row]);
    const { nameAgrees } = await app.verification.resolveVendor({
      caller,
      legalName: "Kestrel Holdings",
      identifiers: { uei },
    });
    expect(nameAgrees).toBeUndefined();
  });

  test("is never compared with a name that an organization gave, nor with a placeholder", async () => {
    expect(await agrees("Own Name")).toBeUndefined();
    expect(await agrees("Own Name")).toBeUndefined();
    const identifiers = { uei: "ABCDEFGHJK52" };
    expect(await agrees("", { identifiers })).toBeUndefined();
    expect(await agrees("Late Name", { identifiers })).toBeUndefined();
    const { entityId } = await resolve("Late Name", { identifiers });
    expect(await agrees("Late Name", { entityId })).toBeUndefined();
  });

  test("is compared with the registry's names of an entity that an organization created before, not with its own", async () => {
    const { entityId } = await resolve("Own Name");
    await loads.load([row]);
    for (const by of [{ entityId }, { identifiers: { uei } }]) {
      expect(await resolve("Kestrel Holdings LLC", by)).toMatchObject({ entityId, nameAgrees: true });
      expect(await agrees("Lorwin Marine", by)).toBe(true);
      expect(await agrees("Own Name", by)).toBe(false);
    }
  });

  test("is compared with nothing where the load that knew the vendor was withdrawn", async () => {
    const { loadId } = await loads.load([row]);
    await loads.withdraw(loadId);
    expect(await agrees("Kestrel Holdings")).toBeUndefined();
  });

  test("is compared with the sandbox's registry in the sandbox", async () => {
    const tester = callerFor("org_named", "sandbox");
    const given = { caller: tester, identifiers: { uei: "SANDBXACTVE1" }, comparesName: true };
    const { entityId } = await app.verification.resolveVendor(given);
    const { entity } = await app.gateway.getEntity({ caller: tester, entityId });
    const named = (legalName: string) => app.verification.resolveVendor({ ...given, legalName });
    expect((await named(entity!.legalName)).nameAgrees).toBe(true);
    expect((await named("Another Company")).nameAgrees).toBe(false);
  });
});
