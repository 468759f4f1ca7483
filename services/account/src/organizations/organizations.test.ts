import { expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { migrate } from "../migrate.ts";
import { providerBudgets } from "../model/plans.ts";
import { testAccount } from "../testing/account.ts";
import { people } from "../testing/people.ts";

const account = await testAccount();
const { entries } = people(account);

test("a new organization has both environments' webhook secrets", async () => {
  const { _id: organizationId } = await account.organization();
  const live = await account.domain.webhookSecrets.getSigning({ organizationId, environment: "live" });
  const sandbox = await account.domain.webhookSecrets.getSigning({ organizationId, environment: "sandbox" });
  expect(live).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).not.toEqual(live);
});

test("changes by the operator are audited, and calls that change nothing are not", async () => {
  const { organizations } = account.domain;
  const { _id: id, live_tin_match } = await account.organization("starter");
  expect(live_tin_match).toBe(false);
  for (const isApproved of [false, true, true]) {
    expect((await organizations.setLiveTinMatch(operator, id, isApproved)).live_tin_match).toBe(isApproved);
  }
  await organizations.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  await organizations.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  expect(await organizations.get(id)).toMatchObject({ plan: "enterprise", limit_per_minute: 9_000 });
  const growth = await organizations.setPlan(operator, id, { plan: "growth" });
  expect(growth).not.toHaveProperty("limit_per_minute");
  await organizations.suspend(operator, id);
  await organizations.suspend(operator, id);
  expect(await organizations.listSuspended()).toEqual([id]);
  // The approval for tin_match is not changed by another plan, a suspension or its end.
  expect(await organizations.resume(operator, id)).toMatchObject({ status: "active", live_tin_match: true });
  expect(await organizations.listSuspended()).toEqual([]);
  expect((await organizations.setLiveTinMatch(operator, id, false)).live_tin_match).toBe(false);
  expect((await entries({ organization_id: id })).map(({ action }) => action)).toEqual([
    "organization.created",
    "organization.tin_match_approved",
    "organization.plan_changed",
    "organization.plan_changed",
    "organization.suspended",
    "organization.resumed",
    "organization.tin_match_withdrawn",
  ]);
});

test("an enterprise organization's budget at a provider is set, audited, reset, and ended by another plan", async () => {
  const { organizations } = account.domain;
  const { _id: id } = await account.organization("starter");
  const agreed = { per_minute: 5, per_day: 50 };
  const set = (provider: string, budget: typeof agreed | undefined) =>
    organizations.setProviderBudget(operator, id, provider, budget);
  await expect(set("taxbandits", agreed)).rejects.toMatchObject({ code: "invalid_request" });
  await organizations.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  await expect(set("nobody", agreed)).rejects.toMatchObject({ code: "invalid_request" });
  await expect(set("taxbandits", { ...agreed, per_day: 0 })).rejects.toMatchObject({ code: "invalid_request" });
  await set("taxbandits", agreed);
  await set("taxbandits", agreed);
  await set("compliancely", agreed);
  expect(providerBudgets(await set("compliancely", undefined))).toEqual({
    ...providerBudgets({ plan: "enterprise" }),
    taxbandits: agreed,
  });
  const growth = await organizations.setPlan(operator, id, { plan: "growth" });
  expect(providerBudgets(growth)).toEqual(providerBudgets({ plan: "growth" }));
  const changed = { organization_id: id, action: "organization.provider_budget_changed" };
  expect((await entries(changed)).map(({ actor, target, details }) => [actor, target, details])).toEqual([
    ["operator", id, { provider: "taxbandits", ...agreed }],
    ["operator", id, { provider: "compliancely", ...agreed }],
    ["operator", id, { provider: "compliancely", ...providerBudgets({ plan: "enterprise" }).compliancely }],
  ]);
});

test("a refused creation writes nothing", async () => {
  const before = await account.domain.organizations.list();
  const refused = { code: "invalid_request" };
  await expect(account.domain.organizations.create(operator, { name: "", plan: "starter" })).rejects.toMatchObject(
    refused,
  );
  await expect(account.domain.organizations.create(operator, { name: "A", plan: "gold" })).rejects.toMatchObject(
    refused,
  );
  expect(await account.domain.organizations.list()).toEqual(before);
});

test("an unknown organization is not_found", async () => {
  const { organizations } = account.domain;
  for (const call of [
    () => organizations.get("org_x"),
    () => organizations.suspend(operator, "org_x"),
    () => organizations.resume(operator, "org_x"),
    () => organizations.setLiveTinMatch(operator, "org_x", true),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "not_found" });
  }
});

test("migrating again succeeds and changes nothing", async () => {
  await expect(migrate(account)).resolves.toBeUndefined();
});
