import { afterAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { fastClock, sharedProduct } from "../support/product.ts";

const operator = { actor: "operator" };
const { environment } = sharedProduct();
const monitors: [TestOrganization, string][] = [];

const suspended = await createOrganization();
const other = await createOrganization();
for (const organization of [suspended, other]) {
  const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXACTVE1" } });
  const request = { entity_id: body.id, checks: ["sam_registration"], frequency: "hourly" };
  monitors.push([organization, (await organization.sandbox.post("/v1/monitors", request)).body.id]);
}
afterAll(async () => {
  for (const [organization, id] of monitors) await organization.sandbox.delete(`/v1/monitors/${id}`);
});

async function runsOf(organization: TestOrganization): Promise<Date[]> {
  const { body } = await organization.sandbox.get("/v1/verifications?limit=100");
  return body.verifications.map(({ created_at }: { created_at: string }) => new Date(created_at)).reverse();
}

/** Waits until the monitor of the organization that is not suspended has run `count` more times. */
async function periods(count: number): Promise<void> {
  const before = (await runsOf(other)).length;
  await eventually(async () => (await runsOf(other)).length >= before + count, { timeoutMs: 60_000 });
}

test("a suspended organization's monitors do not run, and continue without a burst once it is resumed", async () => {
  await eventually(async () => (await runsOf(suspended)).length > 0);
  await withAccounts(environment, (accounts) => accounts.organizations.suspend(operator, suspended.id));
  await eventually(async () => (await suspended.sandbox.get("/v1/monitors")).body.error === "forbidden");
  // A run that is due within the two seconds until the monitor service asks may still start; it ends within a period.
  await periods(3);
  const quietSince = new Date();
  await periods(3);
  const resumedAt = new Date();
  await withAccounts(environment, (accounts) => accounts.organizations.resume(operator, suspended.id));
  await eventually(async () => (await suspended.sandbox.get("/v1/monitors")).status === 200);
  const runsSince = async (since: Date) => (await runsOf(suspended)).filter((at) => at > since);
  await eventually(async () => (await runsSince(resumedAt)).length >= 2, { timeoutMs: 60_000 });
  const [first, second] = await runsSince(quietSince);
  expect(first!.getTime()).toBeGreaterThan(resumedAt.getTime());
  expect(second!.getTime() - first!.getTime()).toBeGreaterThan(fastClock.hourlyMs / 2);
});
