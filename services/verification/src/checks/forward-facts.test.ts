import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { passing, putVendor, testProvider, verify } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";

const knowing = testProvider("knowing", "sam_registration", async () =>
  passing({ facts: { registration_status: "active" } }),
);

const service = await startTestService({ live: [knowing], maxForwarding: 2 });
beforeEach(() => {
  service.entities.schedule.update = undefined;
});

async function statusOf(entityId: string, timeoutMs?: number) {
  const vendor = putVendor(service, { entityId, createdByOrganization: true });
  return (await verify(service, vendor, { timeoutMs })).overallResult;
}
const updated = (entityId: string) => service.entities.updates.filter((update) => update.entityId === entityId).length;

test("an answer does not wait until its facts are forwarded, but a stopping service does", async () => {
  const entityId = newId("ent");
  const taken = Promise.withResolvers<void>();
  service.entities.schedule.update = () => taken.promise;
  expect(await statusOf(entityId)).toBe(CheckStatus.PASS);
  let settled = false;
  const settling = service.factsForwarded().then(() => {
    settled = true;
  });
  await statusOf(newId("ent"));
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
  expect(await statusOf(entityId, timeoutMs)).toBe(CheckStatus.PASS);
  await service.factsForwarded();
  expect(isWaitedFor).toBe(true);
});

test("facts beyond the maximum in flight are dropped, and the verification is still answered", async () => {
  const taken = Promise.withResolvers<void>();
  service.entities.schedule.update = () => taken.promise;
  const entityIds = [newId("ent"), newId("ent"), newId("ent")];
  for (const entityId of entityIds) expect(await statusOf(entityId)).toBe(CheckStatus.PASS);
  taken.resolve();
  await service.factsForwarded();
  expect(entityIds.map(updated)).toEqual([1, 1, 0]);
  service.entities.schedule.update = undefined;
  expect(await statusOf(entityIds[2]!)).toBe(CheckStatus.PASS);
  await service.factsForwarded();
  expect(updated(entityIds[2]!)).toBe(1);
});
