import { expect, test } from "@jest/globals";
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { operator } from "../audit/audit.ts";
import { testApi } from "../testing/api.ts";

const { account, clientOf: clientOfService } = await testApi();
const clientOf = (caller: string) => clientOfService(OrganizationStatusService, caller);

test("verification reads an organization's budgets, and a change of plan or budget at its next reading", async () => {
  const verification = clientOf("verification");
  const { _id: organizationId } = await account.organization("starter");
  const budgets = async () => {
    const { providerBudgets } = await verification.getOrganizationSettings({ organizationId });
    return providerBudgets.map(({ provider, perMinute, perDay }) => `${provider} ${perMinute} ${perDay}`);
  };
  expect(await budgets()).toEqual(["sam_gov_api 20 200", "taxbandits 20 2000", "compliancely 20 2000"]);
  const { organizations } = account.domain;
  await organizations.setPlan(operator, organizationId, { plan: "enterprise", limitPerMinute: 9_000 });
  await organizations.setProviderBudget(operator, organizationId, "taxbandits", { per_minute: 7, per_day: 70 });
  expect(await budgets()).toEqual(["sam_gov_api 120 5000", "taxbandits 7 70", "compliancely 300 200000"]);
});

test("an organization that does not exist is not_found, and other services may not ask", async () => {
  const unknown = { organizationId: "org_x" };
  await expect(clientOf("verification").getOrganizationSettings(unknown)).rejects.toMatchObject({ code: "not_found" });
  for (const caller of ["gateway", "dashboard", "monitor"]) {
    await expect(clientOf(caller).getOrganizationSettings(unknown)).rejects.toMatchObject({ code: "forbidden" });
  }
});

test("monitor and verification, and no other service, read which organizations are suspended", async () => {
  const { _id: organizationId } = await account.organization();
  const suspended = async (caller = "monitor") => (await clientOf(caller).listSuspended({})).organizationIds;
  expect(await suspended()).not.toContain(organizationId);
  await account.domain.organizations.suspend(operator, organizationId);
  expect(await suspended()).toContain(organizationId);
  expect(await suspended("verification")).toContain(organizationId);
  for (const caller of ["gateway", "dashboard"]) {
    await expect(clientOf(caller).listSuspended({})).rejects.toMatchObject({ code: "forbidden" });
  }
});
