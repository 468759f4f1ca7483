import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Provider } from "../providers/provider.ts";
import { startTestService, type TestService } from "../testing/service.ts";

const knowing: Provider = {
  name: "knowing",
  check: "sam_registration",
  ask: async () => ({
    outcome: "pass",
    reason: "",
    confidence: 1,
    dataDate: new Date(),
    facts: { registration_status: "active" },
    content: "{}",
    contentType: "application/json",
  }),
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ mongodbUri: process.env.MONGODB_URI!, live: [knowing], maxForwarding: 2 });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.entities.schedule.update = undefined;
});

async function verify(entityId: string, timeoutMs?: number) {
  const organizationId = newId("org");
  const subject = { legalName: "Own Inc", uei: "ABCDEFGHJK12", createdByOrganization: true };
  service.entities.put(organizationId, entityId, { subject });
  const caller = { tenant: { organizationId, environment: Environment.LIVE }, actor: "key_1" };
  const target = { case: "entityId" as const, value: entityId };
  const request = { caller, target, checks: [CheckType.SAM_REGISTRATION], mode: Mode.REALTIME };
  return (await service.client.verify(request, { timeoutMs })).verification!.overallResult;
}
const updated = (entityId: string) => service.entities.updates.filter((update) => update.entityId === entityId).length;

test("an answer does not wait until its facts are forwarded, but a stopping service does", async () => {
  const entityId = newId("ent");
  const taken = Promise.withResolvers<void>();
  service.entities.schedule.update = () => taken.promise;
  expect(await verify(entityId)).toBe(CheckStatus.PASS);
  let settled = false;
  const settling = service.factsForwarded().then(() => {
    settled = true;
  });
  await verify(newId("ent"));
  expect([settled, updated(entityId)]).toEqual([false, 0]);
  taken.resolve();
  await settling;
  expect(updated(entityId)).toBe(1);
});

test("facts are forwarded even after the deadline of their call", async () => {
  const entityId = newId("ent");
  const timeoutMs = 2_000;
  const deadline = Date.now() + timeoutMs;
  let isWaitedFor: boolean | undefined;
  service.entities.schedule.update = async (signal) => {
    while (Date.now() <= deadline) await new Promise((resolve) => setTimeout(resolve, deadline - Date.now() + 1));
    isWaitedFor = !signal.aborted;
  };
  expect(await verify(entityId, timeoutMs)).toBe(CheckStatus.PASS);
  await service.factsForwarded();
  expect(isWaitedFor).toBe(true);
});

test("facts beyond the maximum in flight are dropped, and the verification is still answered", async () => {
  const taken = Promise.withResolvers<void>();
  service.entities.schedule.update = () => taken.promise;
  const entityIds = [newId("ent"), newId("ent"), newId("ent")];
  for (const entityId of entityIds) expect(await verify(entityId)).toBe(CheckStatus.PASS);
  taken.resolve();
  await service.factsForwarded();
  expect(entityIds.map(updated)).toEqual([1, 1, 0]);
  service.entities.schedule.update = undefined;
  expect(await verify(entityIds[2]!)).toBe(CheckStatus.PASS);
  await service.factsForwarded();
  expect(updated(entityIds[2]!)).toBe(1);
});
