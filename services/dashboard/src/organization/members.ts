import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { Member } from "@vvs/proto/account/v1/members";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, Response } from "express";
import { clearCookie } from "../http/cookies.ts";
import { field } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import { hasRecentPassword } from "../http/recent-password.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import type { RefusedInvitation } from "./invitations-page.ts";
import { leavePage, memberPage, removeMemberPage } from "./member-page.ts";
import { membersPage } from "./members-page.ts";

/** Handlers that show the members, and with which owners manage them. */
export interface MemberHandlers {
  readonly list: PageHandler;
  readonly view: PageHandler;
  readonly setRole: PageHandler;
  readonly askToRemove: PageHandler;
  readonly remove: PageHandler;
  /** Every member may leave. */
  readonly askToLeave: PageHandler;
  readonly leave: PageHandler;
}

/** Sends the list of members, with the result of a form. */
export type SendMembers = (
  request: Request,
  response: Response,
  visit: Visit,
  shown: { status?: number; notice?: Notice; invitation?: RefusedInvitation },
) => Promise<void>;

const notices: Readonly<Record<string, Notice>> = {
  role: { kind: "done", text: "The role was changed. It takes effect when they open their next page." },
  removed: { kind: "done", text: "The member was removed and signed out everywhere." },
  invited: { kind: "done", text: "The invitation was sent. Its link works for 7 days." },
  resent: { kind: "done", text: "The invitation was sent again. The link in the earlier email no longer works." },
  revoked: { kind: "done", text: "The invitation was revoked. Its link no longer works." },
  confirmed: {
    kind: "done",
    text: "Your identity is confirmed. Your previous action was not carried out yet. Start it again.",
  },
};

export function createMemberHandlers(options: {
  organization: Pick<
    Client<typeof OrganizationService>,
    "listMembers" | "listInvitations" | "setMemberRole" | "removeMember"
  >;
  layout: Layout;
  now: () => Date;
}): MemberHandlers & { sendMembers: SendMembers } {
  const { organization, layout, now } = options;

  const membersOf = async (visit: Visit) =>
    (await organization.listMembers({ caller: toProtoCaller(visit.caller) })).members;

  async function find(request: Request, visit: Visit): Promise<{ member: Member; members: readonly Member[] }> {
    const members = await membersOf(visit);
    const member = members.find(({ userId }) => userId === request.params.user_id);
    if (!member) throw new ProblemError("page_not_found");
    return { member, members };
  }

  async function sendMember(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice } = {},
  ): Promise<void> {
    const { member, members } = await find(request, visit);
    const isLastOwner = isOnlyOwner(member, members);
    const content = memberPage({ visit, member, isLastOwner, notice: shown.notice });
    layout.sendPage(response, { visit, section: "organization", title: member.email, status: shown.status, content });
  }

  async function sendLeave(response: Response, visit: Visit, problem?: string): Promise<void> {
    const members = await membersOf(visit);
    const own = members.find(({ userId }) => userId === visit.session.userId);
    const isLastOwner = own !== undefined && isOnlyOwner(own, members);
    const content = leavePage({ visit, isLastOwner, problem });
    const title = "Leave the organization";
    layout.sendPage(response, { visit, section: "organization", title, status: problem ? 400 : 200, content });
  }

  const sendMembers: SendMembers = async (_request, response, visit, shown) => {
    const mayManage = visit.may("manage_members");
    const caller = toProtoCaller(visit.caller);
    const [members, invited] = await Promise.all([
      membersOf(visit),
      mayManage ? organization.listInvitations({ caller }) : undefined,
    ]);
    const content = membersPage({
      visit,
      members,
      invitations: invited && {
        view: visit.view,
        invitations: invited.invitations,
        now: now(),
        mayInvite: hasRecentPassword(visit.session, now()),
        refused: shown.invitation,
      },
      notice: shown.notice,
    });
    layout.sendPage(response, { visit, section: "organization", title: "Members", status: shown.status, content });
  };

  return {
    sendMembers,

    list: (request, response, visit) => sendMembers(request, response, visit, { notice: noticeOf(request) }),

    view: (request, response, visit) => sendMember(request, response, visit, { notice: noticeOf(request) }),

    // Repeating the form changes nothing, so it needs no token.
    async setRole(request, response, visit) {
      const userId = userIdOf(request);
      try {
        await organization.setMemberRole({
          caller: toProtoCaller(visit.caller),
          userId,
          role: field(request, "role"),
        });
        // Not the member's page: owners who changed their own role may no longer see it.
        response.redirect(303, `${visit.view.path}/organization/members?done=role`);
      } catch (error) {
        const notice: Notice = { kind: "problem", text: refusalOf(error) };
        await sendMember(request, response, visit, { status: 400, notice });
      }
    },

    async askToRemove(request, response, visit) {
      const { member, members } = await find(request, visit);
      const content = removeMemberPage({ visit, member, isLastOwner: isOnlyOwner(member, members) });
      layout.sendPage(response, { visit, section: "organization", title: `Remove ${member.email}`, content });
    },

    async remove(request, response, visit) {
      try {
        await organization.removeMember({ caller: toProtoCaller(visit.caller), userId: userIdOf(request) });
        response.redirect(303, `${visit.view.path}/organization/members?done=removed`);
      } catch (error) {
        const notice: Notice = { kind: "problem", text: refusalOf(error) };
        await sendMember(request, response, visit, { status: 400, notice });
      }
    },

    askToLeave: (_request, response, visit) => sendLeave(response, visit),

    async leave(_request, response, visit) {
      try {
        await organization.removeMember({ caller: toProtoCaller(visit.caller), userId: visit.session.userId });
      } catch (error) {
        return sendLeave(response, visit, refusalOf(error));
      }
      clearCookie(response, "__Host-session");
      clearCookie(response, "__Host-form");
      response.redirect(303, "/sign-in?signed_out");
    },
  };
}

function isOnlyOwner(member: Member, members: readonly Member[]): boolean {
  return member.role === "owner" && members.every(({ userId, role }) => userId === member.userId || role !== "owner");
}

function userIdOf(request: Request): string {
  const id = String(request.params.user_id);
  if (!isId("usr", id)) throw new ProblemError("page_not_found");
  return id;
}

function noticeOf({ query }: Request): Notice | undefined {
  return typeof query.done === "string" && Object.hasOwn(notices, query.done) ? notices[query.done] : undefined;
}

/** Returns a refusal that the user can correct. Other errors are thrown as they are. */
function refusalOf(error: unknown): string {
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  const role = error.details.find(({ path }) => path === "role");
  return role ? "Choose one of the roles." : error.message;
}
