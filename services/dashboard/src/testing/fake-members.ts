import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { invitationHandlers } from "./fake-invitations.ts";
import { fakePart } from "./fake-part.ts";
import type { FakeState } from "./fake-state.ts";

export const MEMBER_ID = "usr_01m7ygvppkenma4hm7yf5h5159";

/** Simulates the organization, its members and its invitations. */
export function organizationPart(state: FakeState) {
  const find = (userId: string) => {
    const member = state.members.find((each) => each.userId === userId);
    if (!member) throw new ServiceError("not_found", { message: "There is no such member." });
    return member;
  };
  const { recorded, quiet } = invitationHandlers(state);
  return fakePart(OrganizationService, state, {
    recorded: {
      ...recorded,
      setMemberRole: async ({ userId, role }) => ({ member: Object.assign(find(userId), { role }) }),
      async removeMember({ userId }) {
        const member = find(userId);
        state.members = state.members.filter((each) => each !== member);
        return {};
      },
    },
    quiet: {
      ...quiet,
      listMembers: async () => ({ members: state.members }),
      getOrganization: async () => ({
        id: "org_1",
        name: "Acme & Sons",
        plan: "growth",
        limitPerMinute: state.limitPerMinute,
        activeMonitors: 10_000,
        createdEntities: 250_000,
        activeKeys: 20,
        liveTinMatch: state.liveTinMatch,
      }),
    },
  });
}

/** A member as account sends it. */
export function memberMessage(
  changes: MessageInitShape<typeof MemberSchema> = {},
): MessageInitShape<typeof MemberSchema> {
  return {
    userId: MEMBER_ID,
    email: "grace@acme.example",
    role: "developer",
    joinedAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
    hasSecondFactor: true,
    lastSeenAt: timestampFromDate(new Date("2026-11-21T09:30:00Z")),
    ...changes,
  };
}
