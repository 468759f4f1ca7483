import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import {
  type MemberSchema,
  RemoveMemberRequestSchema,
  SetMemberRoleRequestSchema,
} from "@vvs/proto/account/v1/members";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { type Handlers, onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { invitationHandlers } from "./fake-invitations.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";

export const MEMBER_ID = "usr_01m7ygvppkenma4hm7yf5h5159";

/** Simulates the members of account. */
export function organizationService(state: FakeState): ServicePart {
  const note = (method: string, json: string) => {
    failIfAsked(state, method);
    state.calls.push(`${method} ${json}`);
  };
  const find = (userId: string) => {
    const member = state.members.find((each) => each.userId === userId);
    if (!member) throw new ServiceError("not_found", { message: "There is no such member." });
    return member;
  };
  const handlers: Handlers<typeof OrganizationService> = {
    async listMembers() {
      failIfAsked(state, "listMembers");
      return { members: state.members };
    },
    async setMemberRole(request) {
      note("setMemberRole", toJsonString(SetMemberRoleRequestSchema, request));
      const member = find(request.userId);
      member.role = request.role;
      return { member };
    },
    async removeMember(request) {
      note("removeMember", toJsonString(RemoveMemberRequestSchema, request));
      const member = find(request.userId);
      state.members = state.members.filter((each) => each !== member);
      return {};
    },
    ...invitationHandlers(state, note),
    async getOrganization() {
      failIfAsked(state, "getOrganization");
      return {
        id: "org_1",
        name: "Acme & Sons",
        plan: "growth",
        limitPerMinute: state.limitPerMinute,
        activeMonitors: 10_000,
        createdEntities: 250_000,
        activeKeys: 20,
        liveTinMatch: state.liveTinMatch,
      };
    },
  };
  return servicePart({ service: OrganizationService, handlers, callers: onlyFor(OrganizationService, "dashboard") });
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
