import { randomInt } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { createOrganization } from "../support/organization.ts";

const UEI = "SANDBXACTVE1";
/** Returns a new TIN; the sandbox answers by its last digit: 0 and 6 match, 3 is a mismatch, 5 is no answer. */
const tinEnding = (last: number) => `4${Array.from({ length: 7 }, () => randomInt(10)).join("")}${last}`;
const masked = (tin: string) => `****${tin.slice(-4)}`;

/** A new organization's calls in the sandbox. */
async function start() {
  const { sandbox: api } = await createOrganization();
  const verify = async (body: object) => {
    const call = { checks: ["tin_match"], mode: "realtime", ...body };
    const answer = await api.post("/v1/verify", call);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  /** Returns the status of the check and what it was about. */
  const match = async (body: object) => {
    const { results } = await verify(body);
    const { status, details } = results[0];
    return `${status} ${details?.tin} ${details?.name}`;
  };
  const supply = (tin: string, more: object = {}) =>
    match({ identifiers: { uei: UEI, tin }, legal_name: "Acme", ...more });
  const { entity_id } = await verify({ identifiers: { uei: UEI }, checks: ["sam_registration"] });
  const withoutTin = async () => match({ identifiers: { uei: UEI }, legal_name: "Acme" });
  const shown = async () => (await api.get(`/v1/entities/${entity_id}`)).body.identifiers.tin;
  return { api, verify, supply, withoutTin, shown };
}

describe("the TIN of a registry entity that an organization's later calls are about", () => {
  test("is the newest that matched: one that does not match answers its own call and displaces nothing", async () => {
    const { api, supply, withoutTin, shown } = await start();
    const [right, wrong, unanswered, newer] = [0, 3, 5, 6].map(tinEnding) as [string, string, string, string];
    expect(await supply(right)).toBe(`pass ${masked(right)} Acme`);
    expect(await supply(wrong)).toBe(`fail ${masked(wrong)} Acme`);
    expect(await supply(unanswered)).toMatch(/^error/);
    expect(await withoutTin()).toBe(`pass ${masked(right)} Acme`);
    expect(await shown()).toBe(masked(right));
    expect((await api.post("/v1/entities/lookup", { identifiers: { tin: wrong } })).status).toBe(404);
    expect(await supply(wrong, { mode: "cached" })).toBe(`fail ${masked(wrong)} Acme`);
    expect(await supply(newer)).toBe(`pass ${masked(newer)} Acme`);
    expect(await withoutTin()).toBe(`pass ${masked(newer)} Acme`);
    expect((await api.post("/v1/entities/lookup", { identifiers: { tin: newer } })).status).toBe(200);
    expect((await api.post("/v1/entities/lookup", { identifiers: { tin: right } })).status).toBe(404);
  });

  test("is the newest supplied while none has matched, and a call that does not check it displaces none", async () => {
    const { verify, supply, withoutTin, shown } = await start();
    const [first, second, unchecked, right] = [3, 2, 0, 6].map(tinEnding) as [string, string, string, string];
    await verify({ identifiers: { uei: UEI, tin: first }, checks: ["sam_registration"] });
    expect(await shown()).toBe(masked(first));
    await supply(second);
    expect(await shown()).toBe(masked(second));
    await verify({ identifiers: { uei: UEI, tin: unchecked }, checks: ["sam_registration"] });
    expect(await withoutTin()).toBe(`fail ${masked(second)} Acme`);
    await supply(right);
    expect(await withoutTin()).toBe(`pass ${masked(right)} Acme`);
  });

  test.each(["realtime", "cached"])(
    "is one of those that matched, where calls at the same moment supply others and each gets the verdict on its own (%s)",
    async (mode) => {
      const { supply, withoutTin } = await start();
      const tins = [0, 3, 6, 2, 0, 3].map(tinEnding);
      const verdicts = tins.map((tin) => `${/[06]$/.test(tin) ? "pass" : "fail"} ${masked(tin)} Acme`);
      const [about, ...supplied] = await Promise.all([withoutTin(), ...tins.map((tin) => supply(tin, { mode }))]);
      expect(supplied).toEqual(verdicts);
      expect(["error undefined undefined", ...verdicts]).toContain(about);
      expect(verdicts.filter((verdict) => verdict.startsWith("pass"))).toContain(await withoutTin());
    },
  );
});
