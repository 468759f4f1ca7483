import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { operator } from "./audit.ts";
import { migrate } from "./migrate.ts";
import { createTestAccount, type TestAccount } from "./test-account.ts";

let account: TestAccount;

beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});

afterAll(() => account.close());

const actionsOf = async (organizationId: string) =>
  (await account.domain.store.auditLog.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).map(
    ({ action }) => action,
  );

test("an organization has both environments' webhook secrets from its first moment", async () => {
  const { _id: organizationId } = await account.organization();
  const live = await account.domain.getSigningSecrets({ organizationId, environment: "live" });
  const sandbox = await account.domain.getSigningSecrets({ organizationId, environment: "sandbox" });
  expect(live).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(sandbox).not.toEqual(live);
});

test("what the operator changes is audited, and what changes nothing is not", async () => {
  const { _id: id } = await account.organization("starter");
  await account.domain.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  await account.domain.setPlan(operator, id, { plan: "enterprise", limitPerMinute: 9_000 });
  expect(await account.domain.getOrganization(id)).toMatchObject({ plan: "enterprise", limit_per_minute: 9_000 });
  const growth = await account.domain.setPlan(operator, id, { plan: "growth" });
  expect(growth).not.toHaveProperty("limit_per_minute");
  await account.domain.suspendOrganization(operator, id);
  await account.domain.suspendOrganization(operator, id);
  expect((await account.domain.resumeOrganization(operator, id)).status).toBe("active");
  expect(await actionsOf(id)).toEqual([
    "organization.created",
    "organization.plan_changed",
    "organization.plan_changed",
    "organization.suspended",
    "organization.resumed",
  ]);
});

test("a refused creation leaves nothing behind", async () => {
  const before = await account.domain.listOrganizations();
  const refused = { code: "invalid_request" };
  await expect(account.domain.createOrganization(operator, { name: "", plan: "starter" })).rejects.toMatchObject(
    refused,
  );
  await expect(account.domain.createOrganization(operator, { name: "A", plan: "gold" })).rejects.toMatchObject(refused);
  expect(await account.domain.listOrganizations()).toEqual(before);
});

test.each(["suspendOrganization", "resumeOrganization", "getOrganization"] as const)(
  "%s of an unknown organization is not_found",
  async (method) => {
    const call =
      method === "getOrganization" ? account.domain[method]("org_x") : account.domain[method](operator, "org_x");
    await expect(call).rejects.toMatchObject({ code: "not_found" });
  },
);

test("migrating again changes nothing and fails on nothing", async () => {
  await expect(migrate(account)).resolves.toBeUndefined();
});
