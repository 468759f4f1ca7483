import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { AccountDomain } from "../domain.ts";
import { organizationMessage, sessionMessage } from "../messages.ts";
import { invitationMessage, memberMessage } from "./member-messages.ts";

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

/** OrganizationService. */
export function createOrganizationPart({ domain }: { domain: AccountDomain }): ServicePart {
  const handlers: Handlers<typeof OrganizationService> = {
    async getOrganization({ caller }) {
      const { tenant } = callerOf(caller);
      return organizationMessage(await domain.organizations.get(tenant.organizationId), tenant.environment);
    },

    async listSuspendedOrganizations() {
      return { organizationIds: await domain.organizations.listSuspended() };
    },

    async listMembers({ caller }) {
      return { members: (await domain.members.list(callerOf(caller))).map(memberMessage) };
    },

    async setMemberRole({ caller, userId, role }) {
      return { member: memberMessage(await domain.members.setRole(callerOf(caller), { userId, role })) };
    },

    async removeMember({ caller, userId }) {
      await domain.members.remove(callerOf(caller), userId);
      return {};
    },

    async createInvitation({ caller, email, role }) {
      return { invitation: invitationMessage(await domain.invitations.create(callerOf(caller), { email, role })) };
    },

    async listInvitations({ caller }) {
      return { invitations: (await domain.invitations.list(callerOf(caller))).map(invitationMessage) };
    },

    async resendInvitation({ caller, invitationId }) {
      return { invitation: invitationMessage(await domain.invitations.resend(callerOf(caller), invitationId)) };
    },

    async revokeInvitation({ caller, invitationId }) {
      await domain.invitations.revoke(callerOf(caller), invitationId);
      return {};
    },

    getInvitation: ({ token }) => domain.invitations.get(token),

    async acceptInvitation({ token, password, clientAddress, userAgent }) {
      const accepted = await domain.invitations.accept({ token, password, clientAddress, userAgent });
      return { sessionToken: accepted.token, session: sessionMessage(accepted.session) };
    },
  };
  return servicePart({ service: OrganizationService, handlers, callers });
}
