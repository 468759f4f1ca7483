import { beforeEach, describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import type { UserDocument } from "../store.ts";
import { testAccount } from "../testing/account.ts";
import { callerOf, password, people } from "../testing/people.ts";

const account = await testAccount();
const { newUser, signIn, entries } = people(account);
let organizationId: string;
let owner: UserDocument;
let developer: UserDocument;
beforeEach(async () => {
  organizationId = (await account.organization())._id;
  owner = await member("owner");
  developer = await member("developer");
});

const member = (role: string) => newUser(role, organizationId);
const rolesNow = async () => {
  const listed = await account.domain.operatedUsers.list(organizationId);
  return Object.fromEntries(listed.map(({ _id, role }) => [_id, role]));
};
const entriesOf = (target: string) => entries({ target, action: /^member/ });
const lastOwner = { code: "invalid_request", details: [expect.objectContaining({ path: "successor" })] };

describe("an operator of the product", () => {
  const set = (isOperator: boolean) =>
    account.domain.operatedUsers.setOperator(operator, { email: developer.email.toUpperCase(), isOperator });

  test("is one in the session from the next request, until that is taken back; both audited once", async () => {
    const { token } = await signIn(developer);
    const isOperator = async () => (await account.domain.signIns.getSession(token)).isOperator;
    expect(await isOperator()).toBe(false);
    for (let time = 0; time < 2; time++) {
      expect(await set(true)).toMatchObject({ _id: developer._id, is_operator: true });
      expect(await isOperator()).toBe(true);
    }
    expect(await Promise.all([set(false), set(false)])).toMatchObject([{ _id: developer._id }, { _id: developer._id }]);
    expect(await isOperator()).toBe(false);
    const found = await entries({ target: developer._id, action: /^user[.]operator/ });
    expect(found.map(({ actor, action, organization_id }) => [actor, action, organization_id])).toEqual([
      ["operator", "user.operator_granted", organizationId],
      ["operator", "user.operator_revoked", organizationId],
    ]);
  });

  test("stays one with another role, and is none after they were removed and created again", async () => {
    await set(true);
    await account.domain.operatedUsers.setRole(operator, { email: developer.email, role: "read_only" });
    expect(await account.domain.users.find(developer.email)).toMatchObject({ is_operator: true });
    await account.domain.operatedUsers.remove(operator, { email: developer.email });
    const input = { organizationId, email: developer.email, password, role: "owner" };
    const again = await account.domain.users.create(operator, input);
    expect(await account.domain.users.find(again.email)).not.toHaveProperty("is_operator");
  });

  test("can only be a user who exists", async () => {
    const unknown = { email: "nobody@example.com", isOperator: true };
    await expect(account.domain.operatedUsers.setOperator(operator, unknown)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("the last owner", () => {
  test("keeps their role and cannot be removed unless the operator names a successor", async () => {
    const { email } = owner;
    await expect(account.domain.operatedUsers.setRole(operator, { email, role: "developer" })).rejects.toMatchObject(
      lastOwner,
    );
    await expect(account.domain.operatedUsers.remove(operator, { email })).rejects.toMatchObject(lastOwner);
    expect(await rolesNow()).toEqual({ [owner._id]: "owner", [developer._id]: "developer" });
  });

  test("gets another role in the same transaction in which the successor becomes an owner, both audited", async () => {
    const input = { email: owner.email, role: "read_only", successor: developer.email.toUpperCase() };
    expect(await account.domain.operatedUsers.setRole(operator, input)).toMatchObject({
      _id: owner._id,
      role: "read_only",
    });
    expect(await rolesNow()).toEqual({ [owner._id]: "read_only", [developer._id]: "owner" });
    const changes = [...(await entriesOf(owner._id)), ...(await entriesOf(developer._id))];
    expect(changes.map(({ actor, details }) => [actor, details])).toEqual([
      ["operator", { from: "owner", to: "read_only" }],
      ["operator", { from: "developer", to: "owner" }],
    ]);
  });

  test("is removed in the same transaction in which the successor becomes an owner", async () => {
    await account.domain.operatedUsers.remove(operator, { email: owner.email, successor: developer.email });
    expect(await rolesNow()).toEqual({ [developer._id]: "owner" });
    expect(await entriesOf(owner._id)).toMatchObject([{ action: "member.removed", details: { role: "owner" } }]);
  });

  test.each([
    ["themselves", () => owner.email],
    ["a member of another organization", async () => (await newUser()).email],
  ])("cannot be succeeded by %s", async (_who, emailOf) => {
    const input = { email: owner.email, successor: await emailOf() };
    await expect(account.domain.operatedUsers.remove(operator, input)).rejects.toMatchObject(lastOwner);
    expect(await rolesNow()).toMatchObject({ [owner._id]: "owner" });
  });

  test("remains, even if the operator and an owner remove two owners concurrently", async () => {
    for (let round = 0; round < 5; round++) {
      organizationId = (await account.organization())._id;
      const [one, other] = [await member("owner"), await member("owner")] as const;
      const asOther = callerOf(other);
      const outcomes = await Promise.allSettled([
        account.domain.operatedUsers.setRole(operator, { email: other.email, role: "developer" }),
        round % 2
          ? account.domain.members.remove(asOther, one._id)
          : account.domain.members.setRole(asOther, { userId: one._id, role: "developer" }),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(Object.values(await rolesNow())).toContain("owner");
    }
  });
});

test("an owner who is not the last one needs no successor", async () => {
  const other = await member("owner");
  await account.domain.operatedUsers.setRole(operator, { email: owner.email, role: "developer" });
  expect(await rolesNow()).toMatchObject({ [owner._id]: "developer", [other._id]: "owner" });
});

test("a successor is refused for a user who keeps their role or is not an owner", async () => {
  for (const input of [
    { email: owner.email, role: "owner", successor: developer.email },
    { email: developer.email, role: "read_only", successor: owner.email },
  ]) {
    await expect(account.domain.operatedUsers.setRole(operator, input)).rejects.toMatchObject(lastOwner);
  }
});
