import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import { AUDIT_KEPT_DAYS } from "./audit-entries.ts";
import { auditEntryMessage, auditQueryOf, invitationMessage, memberMessage } from "./member-messages.ts";
import { sessionMessage } from "./messages.ts";
import type { AccountDomain } from "./provision.ts";

const callers: Callers<typeof OrganizationService> = {
  listAuditEntries: ["dashboard"],
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

/** What the members of an organization decide of it, as a service beside AccountService. */
export function createOrganizationPart({ domain }: { domain: AccountDomain }): ServicePart {
  const handlers: Handlers<typeof OrganizationService> = {
    async listAuditEntries({ caller, ...asked }) {
      const { entries, next } = await domain.listAuditEntries(callerOf(caller), auditQueryOf(asked));
      return { entries: entries.map(auditEntryMessage), next, keptDays: AUDIT_KEPT_DAYS };
    },

    async listMembers({ caller }) {
      return { members: (await domain.listMembers(callerOf(caller))).map(memberMessage) };
    },

    async setMemberRole({ caller, userId, role }) {
      return { member: memberMessage(await domain.setMemberRole(callerOf(caller), { userId, role })) };
    },

    async removeMember({ caller, userId }) {
      await domain.removeMember(callerOf(caller), userId);
      return {};
    },

    async createInvitation({ caller, email, role }) {
      return { invitation: invitationMessage(await domain.createInvitation(callerOf(caller), { email, role })) };
    },

    async listInvitations({ caller }) {
      return { invitations: (await domain.listInvitations(callerOf(caller))).map(invitationMessage) };
    },

    async resendInvitation({ caller, invitationId }) {
      return { invitation: invitationMessage(await domain.resendInvitation(callerOf(caller), invitationId)) };
    },

    async revokeInvitation({ caller, invitationId }) {
      await domain.revokeInvitation(callerOf(caller), invitationId);
      return {};
    },

    getInvitation: ({ token }) => domain.getInvitation(token),

    async acceptInvitation({ token, password, clientAddress, userAgent }) {
      const accepted = await domain.acceptInvitation({ token, password, clientAddress, userAgent });
      return { sessionToken: accepted.token, session: sessionMessage(accepted.session) };
    },
  };
  return servicePart({ service: OrganizationService, handlers, callers });
}
