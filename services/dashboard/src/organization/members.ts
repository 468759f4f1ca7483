import { ServiceError } from "@vvs/errors";
import type { Member } from "@vvs/proto/account/v1/members";
import type { Request, Response } from "express";
import { clearCookie } from "../http/cookies.ts";
import { field } from "../http/form.ts";
import { pathId } from "../http/paths.ts";
import { ProblemError } from "../http/problem.ts";
import { hasRecentPassword } from "../http/recent-password.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { CONFIRMED, noticeOf, problemNotice } from "../ui/notices.ts";
import type { Notice } from "../ui/parts.ts";
import type { RefusedInvitation } from "./invitations-page.ts";
import { leavePage, memberPage, removeMemberPage } from "./member-page.ts";
import { membersPage } from "./members-page.ts";

const notices = {
  role: "The role was changed. It takes effect when they open their next page.",
  removed: "The member was removed and signed out everywhere.",
  invited: "The invitation was sent. Its link works for 7 days.",
  resent: "The invitation was sent again. The link in the earlier email no longer works.",
  revoked: "The invitation was revoked. Its link no longer works.",
  confirmed: CONFIRMED,
};

/** Creates the handlers that show the members, and with which owners manage them and invite people. */
export function createMemberHandlers({ organization, layout, now }: PageContext) {
  const membersOf = async ({ bySession }: Visit) => (await organization.listMembers(bySession)).members;

  async function find(request: Request, visit: Visit) {
    const members = await membersOf(visit);
    const member = members.find(({ userId }) => userId === request.params.user_id);
    if (!member) throw new ProblemError("page_not_found");
    return { visit, member, isLastOwner: isOnlyOwner(member, members) };
  }

  async function sendMember(request: Request, response: Response, visit: Visit, notice?: Notice): Promise<void> {
    const found = await find(request, visit);
    const [title, status] = [found.member.email, notice?.kind === "problem" ? 400 : 200];
    const content = memberPage({ ...found, notice });
    layout.sendPage(response, { visit, section: "organization", title, status, content });
  }

  /** Runs the action of a form on a member's page and redirects to the list. Owners who changed their own role may no longer see that page. */
  async function manage(request: Request, response: Response, visit: Visit, done: string, run: () => Promise<unknown>) {
    try {
      await run();
      redirectToMembers(response, visit, done);
    } catch (error) {
      await sendMember(request, response, visit, problemNotice(memberRefusal(error)));
    }
  }

  async function sendLeave(response: Response, visit: Visit, problem?: string): Promise<void> {
    const members = await membersOf(visit);
    const own = members.find(({ userId }) => userId === visit.session.userId);
    const isLastOwner = own !== undefined && isOnlyOwner(own, members);
    const content = leavePage({ visit, isLastOwner, problem });
    const title = "Leave the organization";
    layout.sendPage(response, { visit, section: "organization", title, status: problem ? 400 : 200, content });
  }

  /** Sends the list of members, with the result of a form. */
  async function sendMembers(
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice; refused?: RefusedInvitation },
  ): Promise<void> {
    const { status, notice, refused } = shown;
    const [members, invited] = await Promise.all([
      membersOf(visit),
      visit.may("manage_members") ? organization.listInvitations(visit.bySession) : undefined,
    ]);
    const mayInvite = hasRecentPassword(visit.session, now());
    const invitations = invited && { ...invited, view: visit.view, now: now(), mayInvite, refused };
    const content = membersPage({ visit, members, invitations, notice });
    layout.sendPage(response, { visit, section: "organization", title: "Members", status, content });
  }

  /** Runs the action of an invitation's form and redirects to the list. Repeating an action has no further effect. */
  async function manageInvitation(response: Response, visit: Visit, done: string, run: () => Promise<unknown>) {
    try {
      await run();
      redirectToMembers(response, visit, done);
    } catch (error) {
      const [status, text] = invitationRefusal(error, "The invitation");
      await sendMembers(response, visit, { status, notice: problemNotice(text) });
    }
  }

  return {
    list: (request, response, visit) => sendMembers(response, visit, { notice: noticeOf(request, notices) }),

    view: (request, response, visit) => sendMember(request, response, visit, noticeOf(request, notices)),

    // Repeating the form changes nothing, so it needs no token.
    async setRole(request, response, visit) {
      const change = { ...visit.bySession, userId: pathId(request, "user_id", "usr"), role: field(request, "role") };
      await manage(request, response, visit, "role", () => organization.setMemberRole(change));
    },

    async askToRemove(request, response, visit) {
      const found = await find(request, visit);
      const title = `Remove ${found.member.email}`;
      layout.sendPage(response, { visit, section: "organization", title, content: removeMemberPage(found) });
    },

    async remove(request, response, visit) {
      const member = { ...visit.bySession, userId: pathId(request, "user_id", "usr") };
      await manage(request, response, visit, "removed", () => organization.removeMember(member));
    },

    askToLeave: (_request, response, visit) => sendLeave(response, visit),

    async leave(_request, response, visit) {
      try {
        await organization.removeMember({ ...visit.bySession, userId: visit.session.userId });
      } catch (error) {
        return sendLeave(response, visit, memberRefusal(error));
      }
      clearCookie(response, "__Host-session");
      response.redirect(303, "/sign-in?signed_out");
    },

    async invite(request, response, visit) {
      const typed = { email: field(request, "email").trim(), role: field(request, "role") };
      try {
        await organization.createInvitation({ ...visit.bySession, ...typed });
        redirectToMembers(response, visit, "invited");
      } catch (error) {
        const [status, problem] = invitationRefusal(error, "The email address");
        await sendMembers(response, visit, { status, refused: { ...typed, problem } });
      }
    },

    async resendInvitation(request, response, visit) {
      const invitation = { ...visit.bySession, invitationId: pathId(request, "invitation_id", "inv") };
      await manageInvitation(response, visit, "resent", () => organization.resendInvitation(invitation));
    },

    async revokeInvitation(request, response, visit) {
      const invitation = { ...visit.bySession, invitationId: pathId(request, "invitation_id", "inv") };
      await manageInvitation(response, visit, "revoked", () => organization.revokeInvitation(invitation));
    },
  } satisfies PageHandlers;
}

function redirectToMembers(response: Response, { view }: Visit, done: string): void {
  response.redirect(303, `${view.path}/organization/members?done=${done}`);
}

function isOnlyOwner(member: Member, members: readonly Member[]): boolean {
  return member.role === "owner" && members.every(({ userId, role }) => userId === member.userId || role !== "owner");
}

/** Returns why a change of a member was refused, if the user can correct it. Other errors are thrown as they are. */
function memberRefusal(error: unknown): string {
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  return error.details.some(({ path }) => path === "role") ? "Choose one of the roles." : error.message;
}

/** Returns why an invitation was refused, if the user can correct it or wait. Other errors are thrown as they are. */
function invitationRefusal(error: unknown, subject: string): [status: number, text: string] {
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === "rate_limited") return [429, error.message];
  if (error.code === "limit_exceeded") return [400, error.message];
  if (error.code === "not_found") return [404, "This invitation was already accepted or revoked."];
  if (error.code !== "invalid_request") throw error;
  const [detail] = error.details;
  if (detail?.path === "role") return [400, "Choose one of the roles."];
  return [400, detail ? `${subject} ${detail.message}.` : error.message];
}
