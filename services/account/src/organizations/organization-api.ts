import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { AccountDomain } from "../domain.ts";
import { begunMessage, organizationMessage } from "../messages.ts";
import type { SentInvitation } from "./invitations.ts";
import type { Member } from "./members.ts";

const callers: Callers<typeof OrganizationService> = {
  getOrganization: ["dashboard"],
  listSuspendedOrganizations: ["monitor"],
  listMembers: ["dashboard"],
  setMemberRole: ["dashboard"],
  removeMember: ["dashboard"],
  createInvitation: ["dashboard"],
  listInvitations: ["dashboard"],
  resendInvitation: ["dashboard"],
  revokeInvitation: ["dashboard"],
  getInvitation: ["dashboard"],
  acceptInvitation: ["dashboard"],
};

export function createOrganizationPart({ domain }: { domain: AccountDomain }): ServicePart {
  const { organizations, members, invitations } = domain;
  return servicePart({
    service: OrganizationService,
    callers,
    handlers: {
      async getOrganization({ caller }) {
        const { tenant } = callerOf(caller);
        return organizationMessage(await organizations.get(tenant.organizationId), tenant.environment);
      },

      async listSuspendedOrganizations() {
        return { organizationIds: await organizations.listSuspended() };
      },

      async listMembers({ caller }) {
        return { members: (await members.list(callerOf(caller))).map(memberMessage) };
      },

      async setMemberRole({ caller, userId, role }) {
        return { member: memberMessage(await members.setRole(callerOf(caller), { userId, role })) };
      },

      async removeMember({ caller, userId }) {
        await members.remove(callerOf(caller), userId);
        return {};
      },

      async createInvitation({ caller, email, role }) {
        return { invitation: invitationMessage(await invitations.create(callerOf(caller), { email, role })) };
      },

      async listInvitations({ caller }) {
        return { invitations: (await invitations.list(callerOf(caller))).map(invitationMessage) };
      },

      async resendInvitation({ caller, invitationId }) {
        return { invitation: invitationMessage(await invitations.resend(callerOf(caller), invitationId)) };
      },

      async revokeInvitation({ caller, invitationId }) {
        await invitations.revoke(callerOf(caller), invitationId);
        return {};
      },

      getInvitation: ({ token }) => invitations.get(token),

      async acceptInvitation({ token, password, clientAddress, userAgent }) {
        return begunMessage(await invitations.accept({ token, password, clientAddress, userAgent }));
      },
    },
  });
}

function memberMessage({ user, hasSecondFactor, lastSeenAt }: Member): MessageInitShape<typeof MemberSchema> {
  return {
    userId: user._id,
    email: user.email,
    role: user.role,
    joinedAt: timestampFromDate(user.created_at),
    hasSecondFactor: hasSecondFactor ?? false,
    lastSeenAt: lastSeenAt && timestampFromDate(lastSeenAt),
  };
}

function invitationMessage(sent: SentInvitation): MessageInitShape<typeof InvitationSchema> {
  const { _id: id, email, role, sent_at, expires_at } = sent.invitation;
  const [sentAt, expiresAt] = [timestampFromDate(sent_at), timestampFromDate(expires_at)];
  return { id, email, role, sentAt, expiresAt, invitedByEmail: sent.invitedByEmail };
}
