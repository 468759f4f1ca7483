import { describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { testAccount } from "../testing/account.ts";

const account = testAccount();

const isApproved = async (id: string) => (await account.domain.organizations.get(id)).live_tin_match;
const actionsOf = async (organizationId: string) =>
  (await account.domain.store.auditLog.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).map(
    ({ action }) => action,
  );

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
