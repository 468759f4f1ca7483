import { expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { testAccount } from "../testing/account.ts";

const account = testAccount();

test("a user has the given role, by default owner, in the session and in the audit log", async () => {
  const { _id: organizationId } = await account.organization();
  const password = "correct horse battery";
  for (const [email, role] of [
    ["o@example.com", undefined],
    ["d@example.com", "developer"],
    ["r@example.com", "read_only"],
  ] as const) {
    const user = await account.domain.users.create(operator, { organizationId, email, password, role });
    const { session } = await account.domain.signIns.signIn({ email, password, clientAddress: "203.0.113.5" });
    expect(session.role).toBe(role ?? "owner");
    const entry = await account.domain.store.auditLog.findOne({ action: "user.created", target: user._id });
    expect(entry?.details).toEqual({ role: role ?? "owner" });
  }
});

test("an unknown role is refused", async () => {
  const { _id: organizationId } = await account.organization();
  const user = { organizationId, email: "x@example.com", password: "correct horse battery", role: "admin" };
  await expect(account.domain.users.create(operator, user)).rejects.toMatchObject({
    code: "invalid_request",
    details: [{ path: "role" }],
  });
});
