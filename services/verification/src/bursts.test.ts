import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { eventually } from "@vvs/testing";
import { passing, putVendor, testProvider, verify } from "./testing/calls.ts";
import { startTestService, type TestService } from "./testing/service.ts";

const [attacker, neighbour] = [newId("org"), newId("org")];
/** Answers the attacker's questions in progress. */
let held: (() => void)[] = [];
let isHolding = true;
const provider = testProvider("slow", "tin_match", async ({ tenant }) => {
  if (tenant.organizationId === attacker && isHolding) await new Promise<void>((resolve) => held.push(resolve));
  return passing();
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ live: [provider, testProvider("other")] });
});
afterAll(() => service.stop());

const ask = (organizationId: string, check = CheckType.TIN_MATCH) =>
  verify(service, putVendor(service, { organizationId, tinHash: Buffer.from("hash"), tin: "471829360" }), {
    checks: [check],
    actor: newId("key"),
  });

test("a burst of one organization's verifications runs 16 at a time, beside its other checks and other organizations, and all end", async () => {
  const burst = Array.from({ length: 20 }, () => ask(attacker));
  await eventually(() => held.length === 16);
  const pass = { overallResult: CheckStatus.PASS };
  expect(await ask(neighbour)).toMatchObject(pass);
  expect(await ask(attacker, CheckType.SAM_REGISTRATION)).toMatchObject(pass);
  expect(held).toHaveLength(16);
  isHolding = false;
  for (const end of held) end();
  held = [];
  for (const verified of await Promise.all(burst)) expect(verified).toMatchObject(pass);
  expect(held).toEqual([]);
});
