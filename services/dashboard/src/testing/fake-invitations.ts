import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Handlers } from "@vvs/rpc";
import { beginSession } from "./fake-sessions.ts";
import type { FakeState } from "./fake-state.ts";

export const INVITATION_ID = "inv_01m7ygvppkenma4hm7yf5h5159";
/** Token in the link of the only invitation. */
export const INVITATION_TOKEN = "token-of-an-invitation-that-was-mailed-0000";

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

type Some = Partial<Handlers<typeof OrganizationService>>;

/** Simulates the invitations of account. */
export function invitationHandlers(state: FakeState): { readonly recorded: Some; readonly quiet: Some } {
  const offered = (token: string) => {
    const [invitation] = state.invitations;
    if (token !== INVITATION_TOKEN || !invitation) throw new ServiceError("not_found");
    return invitation;
  };
  return {
    recorded: {
      async createInvitation({ email, role }) {
        const invitation = invitationMessage({ email, role });
        state.invitations.unshift(invitation);
        return { invitation };
      },
      resendInvitation: async () => ({ invitation: state.invitations[0] }),
      async revokeInvitation() {
        state.invitations = [];
        return {};
      },
    },
    quiet: {
      listInvitations: async () => ({ invitations: state.invitations }),
      async getInvitation({ token }) {
        const { email, role, invitedByEmail } = offered(token);
        return { email, role, invitedByEmail, organizationName: "Acme & Sons", hasAccount: state.hasAccount };
      },
      async acceptInvitation({ token }) {
        offered(token);
        state.invitations = [];
        return beginSession(state);
      },
    },
  };
}
