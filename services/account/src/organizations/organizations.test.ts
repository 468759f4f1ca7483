import { expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { migrate } from "../migrate.ts";
import { providerBudgets } from "../model/plans.ts";
import { testAccount } from "../testing/account.ts";

const account = testAccount();

const actionsOf = async (organizationId: string) =>
  (await account.domain.store.auditLog.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).map(
    ({ action }) => action,
  );

test("a new organization has both environments' webhook secrets", async () => {
  const { _id: organizationId } = await account.organization();
  const live = await account.domain.webhookSecrets.getSigning({ organizationId, environment: "live" });
  const sandbox = await account.domain.webhookSecrets.getSigning({ organizationId, environment: "sandbox" });
  expect(live).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).not.toEqual(live);
});

test("changes by the operator are audited, and calls that change nothing are not", async () => {
  const { _id: id } = await account.organization("starter");
  await account.domain.organizations.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  await account.domain.organizations.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  expect(await account.domain.organizations.get(id)).toMatchObject({ plan: "enterprise", limit_per_minute: 9_000 });
  const growth = await account.domain.organizations.setPlan(operator, id, { plan: "growth" });
  expect(growth).not.toHaveProperty("limit_per_minute");
  await account.domain.organizations.suspend(operator, id);
  await account.domain.organizations.suspend(operator, id);
  expect(await account.domain.organizations.listSuspended()).toEqual([id]);
  expect((await account.domain.organizations.resume(operator, id)).status).toBe("active");
  expect(await account.domain.organizations.listSuspended()).toEqual([]);
  expect(await actionsOf(id)).toEqual([
    "organization.created",
    "organization.plan_changed",
    "organization.plan_changed",
    "organization.suspended",
    "organization.resumed",
  ]);
});

test("an enterprise organization's budget at a provider is set, audited, reset, and ended by another plan", async () => {
  const { organizations, store } = account.domain;
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
  const entries = await store.auditLog.find(changed).sort({ _id: 1 }).toArray();
  expect(entries.map(({ actor, target, details }) => [actor, target, details])).toEqual([
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

test.each(["suspend", "resume", "get"] as const)("%s of an unknown organization is not_found", async (method) => {
  const { organizations } = account.domain;
  const call = method === "get" ? organizations.get("org_x") : organizations[method](operator, "org_x");
  await expect(call).rejects.toMatchObject({ code: "not_found" });
});

test("migrating again succeeds and changes nothing", async () => {
  await expect(migrate(account)).resolves.toBeUndefined();
});
