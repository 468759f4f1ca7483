import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { toProtoCaller } from "@vvs/tenant";
import { testApi } from "../testing/api.ts";
import { callerOf, people } from "../testing/people.ts";

const { account, clientOf } = await testApi();
const { newUser, signIn } = people(account);

test("an owner changes a role, removes the member, and reads both in the audit log", async () => {
  const dashboard = clientOf(OrganizationService, "dashboard");
  const auditLog = clientOf(AuditLogService, "dashboard");
  const owner = await newUser();
  const other = await newUser("developer", owner.organization_id);
  const { token: sessionToken } = await signIn(owner);
  const bySession = { caller: toProtoCaller(callerOf(owner)), sessionToken };

  const { members } = await dashboard.listMembers(bySession);
  expect(members).toMatchObject([
    { userId: owner._id, email: owner.email, role: "owner", hasSecondFactor: false },
    { userId: other._id, email: other.email, role: "developer" },
  ]);
  expect(members[1]!.lastSeenAt).toBeUndefined();
  expect(timestampDate(members[1]!.joinedAt!)).toEqual(other.created_at);
  account.advance(1);
  const since = account.clock.now;
  const { member } = await dashboard.setMemberRole({ ...bySession, userId: other._id, role: "read_only" });
  expect(member).toMatchObject({ userId: other._id, role: "read_only" });
  account.advance(1);
  await dashboard.removeMember({ ...bySession, userId: other._id });

  const asked = { ...bySession, from: timestampFromDate(since), page: { limit: 1 } };
  const first = await auditLog.listAuditEntries(asked);
  const second = await auditLog.listAuditEntries({ ...asked, page: { limit: 1, after: first.next } });
  const shared = {
    actor: owner._id,
    actorEmail: owner.email,
    target: other._id,
    targetEmail: other.email,
    clientAddress: "203.0.113.9",
    requestId: "req_1",
  };
  expect([...first.entries, ...second.entries]).toMatchObject([
    { ...shared, action: "member.removed", details: { role: "read_only" } },
    { ...shared, action: "member.role_changed", details: { from: "developer", to: "read_only" } },
  ]);
  expect([first.keptDays, second.next]).toEqual([2_557, undefined]);
});

test.each(["gateway", "webhook-dispatcher", "monitor"])("%s may call none of these methods", async (caller) => {
  const client = clientOf(OrganizationService, caller);
  for (const method of ["listMembers", "setMemberRole", "removeMember"] as const) {
    await expect(client[method]({})).rejects.toMatchObject({ code: "forbidden" });
  }
  const auditLog = clientOf(AuditLogService, caller);
  await expect(auditLog.listAuditEntries({})).rejects.toMatchObject({ code: "forbidden" });
});
