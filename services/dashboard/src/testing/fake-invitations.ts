import { randomUUID } from "node:crypto";
import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import {
  AcceptInvitationRequestSchema,
  CreateInvitationRequestSchema,
  type InvitationSchema,
  ResendInvitationRequestSchema,
  RevokeInvitationRequestSchema,
} from "@vvs/proto/account/v1/invitations";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Handlers } from "@vvs/rpc";
import { type FakeState, failIfAsked } from "./fake-state.ts";

export const INVITATION_ID = "inv_01m7ygvppkenma4hm7yf5h5159";
/** Token in the link of the only invitation. */
export const INVITATION_TOKEN = "token-of-an-invitation-that-was-mailed-0000";

type InvitationHandlers = Pick<
  Handlers<typeof OrganizationService>,
  | "createInvitation"
  | "listInvitations"
  | "resendInvitation"
  | "revokeInvitation"
  | "getInvitation"
  | "acceptInvitation"
>;

/** An invitation as account sends it. */
export function invitationMessage(
  changes: MessageInitShape<typeof InvitationSchema> = {},
): MessageInitShape<typeof InvitationSchema> {
  return {
    id: INVITATION_ID,
    email: "hopper@acme.example",
    role: "developer",
    sentAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
    expiresAt: timestampFromDate(new Date(Date.now() + 60_000)),
    invitedByEmail: "ada@acme.example",
    ...changes,
  };
}

/** Simulates the invitations of account; `note` records calls. */
export function invitationHandlers(state: FakeState, note: (method: string, json: string) => void): InvitationHandlers {
  const offered = (token: string) => {
    const [invitation] = state.invitations;
    if (token !== INVITATION_TOKEN || !invitation) throw new ServiceError("not_found");
    return invitation;
  };
  return {
    async listInvitations() {
      failIfAsked(state, "listInvitations");
      return { invitations: state.invitations };
    },
    async createInvitation(request) {
      note("createInvitation", toJsonString(CreateInvitationRequestSchema, request));
      const invitation = invitationMessage({ email: request.email, role: request.role });
      state.invitations.unshift(invitation);
      return { invitation };
    },
    async resendInvitation(request) {
      note("resendInvitation", toJsonString(ResendInvitationRequestSchema, request));
      return { invitation: state.invitations[0] };
    },
    async revokeInvitation(request) {
      note("revokeInvitation", toJsonString(RevokeInvitationRequestSchema, request));
      state.invitations = [];
      return {};
    },
    async getInvitation({ token }) {
      failIfAsked(state, "getInvitation");
      const { email, role, invitedByEmail } = offered(token);
      return { email, role, invitedByEmail, organizationName: "Acme & Sons", hasAccount: state.hasAccount };
    },
    async acceptInvitation(request) {
      note("acceptInvitation", toJsonString(AcceptInvitationRequestSchema, { ...request, password: "" }));
      const { email, role } = offered(request.token);
      state.invitations = [];
      const sessionToken = `token-${randomUUID()}`;
      state.sessions.add(sessionToken);
      const expiresAt = timestampFromDate(new Date(Date.now() + 60_000));
      return { sessionToken, session: { userId: "usr_9", organizationId: "org_1", email, role, expiresAt } };
    },
  };
}
