import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import type { Answer, Provider } from "./providers/provider.ts";
import { startTestService, type TestService } from "./testing/service.ts";

const answer: Answer = {
  outcome: "pass",
  reason: "",
  confidence: 1,
  dataDate: new Date(),
  facts: {},
  content: "{}",
  contentType: "application/json",
};

const [attacker, neighbour] = [newId("org"), newId("org")];
/** Answers the attacker's questions in progress. */
let held: (() => void)[] = [];
let isHolding = true;
const provider: Provider = {
  name: "slow",
  check: "tin_match",
  async ask({ tenant }) {
    if (tenant.organizationId === attacker && isHolding) await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  },
};

const other: Provider = { name: "other", check: "sam_registration", ask: async () => answer };

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ mongodbUri: process.env.MONGODB_URI!, live: [provider, other] });
});
afterAll(() => service.stop());

function verify(organizationId: string, check = CheckType.TIN_MATCH) {
  const entityId = newId("ent");
  const subject = { legalName: "Acme LLC", uei: "ABCDEFGH1234", tinHash: Buffer.from("hash") };
  service.entities.put(organizationId, entityId, { subject, tin: "471829360" });
  const tenant = { organizationId, environment: Environment.LIVE };
  return service.client.verify({
    caller: { tenant, actor: newId("key"), requestId: "req_1" },
    target: { case: "entityId", value: entityId },
    checks: [check],
    mode: Mode.REALTIME,
  });
}

test("a burst of one organization's verifications runs 16 at a time, beside its other checks and other organizations, and all end", async () => {
  const burst = Array.from({ length: 20 }, () => verify(attacker));
  await eventually(() => held.length === 16);
  const pass = { verification: { overallResult: CheckStatus.PASS } };
  expect(await verify(neighbour)).toMatchObject(pass);
  expect(await verify(attacker, CheckType.SAM_REGISTRATION)).toMatchObject(pass);
  expect(held).toHaveLength(16);
  isHolding = false;
  for (const end of held) end();
  held = [];
  for (const verified of await Promise.all(burst)) expect(verified).toMatchObject(pass);
  expect(held).toEqual([]);
});
