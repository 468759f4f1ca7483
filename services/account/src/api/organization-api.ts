import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { PeopleDomain } from "../domain.ts";
import type { Member } from "../members/members.ts";
import type { SentInvitation } from "../organizations/invitations.ts";
import { begunMessage, organizationMessage } from "./messages.ts";

export function createOrganizationPart({ domain }: { domain: PeopleDomain }): ServicePart {
  const { organizations, members, invitations, callersBySession: callers } = domain;
  return servicePart({
    service: OrganizationService,
    callers: onlyFor(OrganizationService, "dashboard"),
    handlers: {
      async getOrganization({ caller }) {
        const { tenant } = callerOf(caller);
        return organizationMessage(await organizations.get(tenant.organizationId), tenant.environment);
      },

      async listMembers(request) {
        return { members: (await members.list(await callers.signedIn(request))).map(memberMessage) };
      },

      async setMemberRole(request) {
        return { member: memberMessage(await members.setRole(await callers.confirmed(request), request)) };
      },

      async removeMember(request) {
        await members.remove(await callers.confirmed(request), request.userId);
        return {};
      },

      async createInvitation(request) {
        return { invitation: invitationMessage(await invitations.create(await callers.confirmed(request), request)) };
      },

      async listInvitations(request) {
        return { invitations: (await invitations.list(await callers.signedIn(request))).map(invitationMessage) };
      },

      async resendInvitation(request) {
        const sent = await invitations.resend(await callers.confirmed(request), request.invitationId);
        return { invitation: invitationMessage(sent) };
      },

      async revokeInvitation(request) {
        await invitations.revoke(await callers.confirmed(request), request.invitationId);
        return {};
      },

      getInvitation: ({ token }) => invitations.get(token),

      async acceptInvitation(request) {
        return begunMessage(await invitations.accept(request));
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
