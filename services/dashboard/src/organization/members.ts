import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Invitation } from "@vvs/proto/account/v1/invitations";
import type { Member } from "@vvs/proto/account/v1/members";
import type { Request, Response } from "express";
import { clearCookie } from "../http/cookies.ts";
import { field, pathId } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import { isRefusal } from "../http/refusal.ts";
import { permissionHint, roleName, roles } from "../http/roles.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { isConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { emailField } from "../ui/fields.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import {
  breakable,
  CONFIRMED,
  card,
  confirmFirst,
  type Notice,
  noticeOf,
  problemNotice,
  section,
  state,
  time,
  timeAgo,
} from "../ui/parts.ts";
import { none, table } from "../ui/table.ts";
import { leavePage, memberPage, removeMemberPage, roleField } from "./member-page.ts";
import { organizationTabs } from "./organization-tabs.ts";

const notices = {
  role: "The role was changed. It takes effect when they open their next page.",
  removed: "The member was removed and signed out everywhere.",
  invited: "The invitation was sent. Its link works for 7 days.",
  resent: "The invitation was sent again. The link in the earlier email no longer works.",
  revoked: "The invitation was revoked. Its link no longer works.",
  gone: problemNotice("This invitation was already accepted or revoked."),
  confirmed: CONFIRMED,
};

const refusals: RefusalTexts = {
  fields: { email: "email address", role: "choice of a role" },
};

/** Creates the handlers that show the members, and with which owners manage them and invite people. */
export function createMemberHandlers({ organization, layout }: PageContext) {
  const membersOf = async ({ bySession }: Visit) => (await organization.listMembers(bySession)).members;

  async function find(request: Request, visit: Visit) {
    const members = await membersOf(visit);
    const member = members.find(({ userId }) => userId === request.params.user_id);
    if (!member) throw new ProblemError("page_not_found");
    return { visit, member, isLastOwner: isOnlyOwner(member, members) };
  }

  async function sendMember(
    request: Request,
    response: Response,
    visit: Visit,
    { status, notice }: { status?: number; notice?: Notice | undefined },
  ): Promise<void> {
    const found = await find(request, visit);
    const { email } = found.member;
    layout.sendPage(response, {
      ...{ visit, title: email, heading: breakable(email), parents: [["/organization/members", "Members"]], notice },
      ...{ status, content: memberPage(found) },
    });
  }

  /** Runs the action of a form on a member's page and redirects to the list. Owners who changed their own role may no longer see that page. */
  async function manage(request: Request, response: Response, visit: Visit, done: string, run: () => Promise<unknown>) {
    try {
      await run();
      redirectToMembers(response, visit, done);
    } catch (error) {
      await sendMember(request, response, visit, refusalOf(response, error, { fields: {} }));
    }
  }

  async function sendLeave(response: Response, visit: Visit, refusal?: Refusal): Promise<void> {
    const members = await membersOf(visit);
    const own = members.find(({ userId }) => userId === visit.session.userId);
    const isLastOwner = own !== undefined && isOnlyOwner(own, members);
    layout.sendCard(response, {
      ...{ visit, title: `Leave ${visit.session.organizationName}?`, content: leavePage(visit, isLastOwner) },
      ...{ status: refusal?.status, notice: refusal?.notice },
    });
  }

  /** Sends the list of members, with the result of a form. */
  async function sendMembers(
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { typed?: { email: string; role: string } },
  ): Promise<void> {
    const { status, notice, problems, typed } = shown;
    const [members, invited] = await Promise.all([
      membersOf(visit),
      visit.may("manage_members") ? organization.listInvitations(visit.bySession) : undefined,
    ]);
    const { organizationName: heading } = visit.session;
    const content = html`${organizationTabs(visit, "Members")}
${section("members", "Members")`<p>These people can use the dashboard for ${heading}, in both environments.</p>
${membersTable(visit, members)}
${!invited && permissionHint(visit.view, "manage_members", "invite people, change roles and remove members")}
<p class="actions"><a href="${visit.view.path}/organization/leave">Leave ${heading}</a></p>`}
${invited ? invitationsSection(visit, invited.invitations, { ...typed, problem: problems?.email ?? problems?.role }) : rolesSection()}`;
    layout.sendPage(response, { visit, title: "Members", heading, status, notice, content });
  }

  /** Runs the action of an invitation's form and redirects to the list. Repeating an action has no further effect. */
  async function manageInvitation(response: Response, visit: Visit, done: string, run: () => Promise<unknown>) {
    try {
      await run();
      redirectToMembers(response, visit, done);
    } catch (error) {
      if (isRefusal(error, "not_found")) return redirectToMembers(response, visit, "gone");
      await sendMembers(response, visit, refusalOf(response, error, refusals));
    }
  }

  return {
    list: (request, response, visit) => sendMembers(response, visit, { notice: noticeOf(request, notices) }),

    view: (request, response, visit) => sendMember(request, response, visit, { notice: noticeOf(request, notices) }),

    // Repeating the form changes nothing, so it needs no token.
    async setRole(request, response, visit) {
      const change = { ...visit.bySession, userId: pathId(request, "user_id", "usr"), role: field(request, "role") };
      await manage(request, response, visit, "role", () => organization.setMemberRole(change));
    },

    async askToRemove(request, response, visit) {
      const found = await find(request, visit);
      const title = `Remove ${found.member.email}?`;
      layout.sendCard(response, { visit, title, content: removeMemberPage(found) });
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
        return sendLeave(response, visit, refusalOf(response, error, { fields: {} }));
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
        await sendMembers(response, visit, { ...refusalOf(response, error, refusals), typed });
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

function membersTable({ view, session, now, may }: Visit, members: readonly Member[]): Html {
  const mayManage = may("manage_members");
  return table("members", members, [
    [
      "Member",
      ({ email, userId }) => html`${breakable(email)}${userId === session.userId && html` ${state("active", "you")}`}`,
    ],
    ["Role", ({ role }) => roleName(role)],
    ["Joined", ({ joinedAt }) => timeAgo(joinedAt, now)],
    mayManage && ["Two-factor", ({ hasSecondFactor }) => (hasSecondFactor ? state("pass", "on") : none("off"))],
    mayManage && ["Last seen", ({ lastSeenAt }) => timeAgo(lastSeenAt, now) ?? none("never")],
    mayManage && [
      "Action",
      ({ userId, email }) =>
        html`<a class="button quiet" href="${view.path}/organization/members/${userId}">Manage<span class="unseen"> ${email}</span></a>`,
      "action",
    ],
  ]);
}

function rolesSection(): Html {
  return card("roles", "What each role can do")`
<dl class="facts">${[...roles.values()].map(({ name, may }) => html`<div><dt>${name}</dt><dd>${may}</dd></div>`)}</dl>`;
}

/** A refused form of an invitation, and why it was refused. */
interface RefusedInvitation {
  readonly email?: string;
  readonly role?: string;
  readonly problem: string | undefined;
}

/** The role selected at first. */
const DEFAULT_ROLE = "developer";

function invitationsSection(visit: Visit, invitations: readonly Invitation[], refused: RefusedInvitation): Html {
  return html`${invitations.length > 0 && section("invited", "Invitations")`${invitationsTable(visit, invitations)}`}
${card("invite", "Invite someone")`${isConfirmed(visit) ? inviteForm(visit, refused) : confirmFirst(visit.view, "/organization/members", "A new member can see your organization’s data.")}`}`;
}

function inviteForm({ view }: Visit, { email = "", role = DEFAULT_ROLE, problem }: RefusedInvitation): Html {
  return html`<form method="post" action="${view.path}/organization/members/invitations">
  ${emailField({ value: email, problem, autocomplete: "off" })}
  ${roleField("Role", role)}
  <p class="hint">They get an email with a link to choose a password and join. The link works for 7 days.</p>
  <button>Send invitation</button>
</form>`;
}

function invitationsTable({ view, now }: Visit, invitations: readonly Invitation[]): Html {
  return table("members", invitations, [
    ["Email address", ({ email }) => breakable(email)],
    ["Role", ({ role }) => roleName(role)],
    [
      "Sent",
      ({ sentAt, invitedByEmail: by }) =>
        html`${time(sentAt)}${by && html` <span class="hint block">by ${breakable(by)}</span>`}`,
    ],
    [
      "State",
      ({ expiresAt }) =>
        timestampDate(expiresAt!) <= now
          ? state("expired")
          : html`${state("pending", "not accepted yet")} <span class="hint block">until ${time(expiresAt)}</span>`,
    ],
    [
      "Actions",
      ({ id, email }) => invitationForms(`${view.path}/organization/members/invitations/${id}`, email),
      "action",
    ],
  ]);
}

const invitationForms = (path: string, email: string): Html =>
  html`<form method="post" action="${path}/resend"><button class="quiet">Send again<span class="unseen"> to ${email}</span></button></form>
<form method="post" action="${path}/revoke"><button class="quiet">Revoke<span class="unseen"> the invitation for ${email}</span></button></form>`;
