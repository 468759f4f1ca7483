import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { operator } from "../audit/audit.ts";
import { migrate } from "../migrate.ts";
import { testAccount } from "../testing/account.ts";

const account = testAccount();

const isApproved = async (id: string) => (await account.domain.organizations.get(id)).live_tin_match;
const actionsOf = async (organizationId: string) =>
  (await account.domain.store.auditLog.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).map(
    ({ action }) => action,
  );

/** Writes an organization as a version without approvals does. */
async function olderOrganization(createdAt: Date): Promise<string> {
  const _id = newId("org");
  await account.domain.store.organizations.insertOne({
    _id,
    name: "Older",
    plan: "growth",
    status: "active",
    created_at: createdAt,
  });
  return _id;
}

describe("live tin_match", () => {
  test("of a new organization is not approved; the operator approves it and withdraws that, audited once each", async () => {
    const { _id: id, live_tin_match } = await account.organization();
    expect(live_tin_match).toBe(false);
    const { setLiveTinMatch } = account.domain.organizations;
    expect(await setLiveTinMatch(operator, id, false)).toMatchObject({ live_tin_match: false });
    for (let time = 0; time < 2; time++) {
      expect(await setLiveTinMatch(operator, id, true)).toMatchObject({ live_tin_match: true });
    }
    expect(await setLiveTinMatch(operator, id, false)).toMatchObject({ live_tin_match: false });
    expect(await actionsOf(id)).toEqual([
      "organization.created",
      "organization.tin_match_approved",
      "organization.tin_match_withdrawn",
    ]);
  });

  test("is not changed by another plan, a suspension or its end", async () => {
    const { _id: id } = await account.organization();
    const { organizations } = account.domain;
    await organizations.setLiveTinMatch(operator, id, true);
    await organizations.setPlan(operator, id, { plan: "starter" });
    await organizations.suspend(operator, id);
    await organizations.resume(operator, id);
    expect(await isApproved(id)).toBe(true);
  });

  test("of an unknown organization is not_found", async () => {
    const approving = account.domain.organizations.setLiveTinMatch(operator, "org_x", true);
    await expect(approving).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the migration", () => {
  /** As before its first run. */
  beforeEach(async () => {
    await account.domain.store.migrations.deleteMany({});
  });

  test("approves organizations that existed before it, and no new one", async () => {
    const [older, { _id: newer }] = [await olderOrganization(new Date()), await account.organization()];
    await Promise.all([migrate(account), migrate(account)]);
    expect([await isApproved(older), await isApproved(newer)]).toEqual([true, false]);
  });

  test("run again, approves nobody whom an older replica created during the rollout, and keeps what the operator withdrew", async () => {
    const older = await olderOrganization(new Date());
    await migrate(account);
    await account.domain.organizations.setLiveTinMatch(operator, older, false);
    const during = await olderOrganization(new Date(Date.now() + 60_000));
    await migrate(account);
    expect([await isApproved(older), await isApproved(during)]).toEqual([false, undefined]);
  });

  test("run again after a crash, approves the rest", async () => {
    await migrate(account);
    const left = await olderOrganization(new Date(Date.now() - 60_000));
    await migrate(account);
    expect(await isApproved(left)).toBe(true);
  });
});
