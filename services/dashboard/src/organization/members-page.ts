import type { Member } from "@vvs/proto/account/v1/members";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { breakable, type Notice, noticeBox, state, timeAgo } from "../ui/parts.ts";
import { permissionHint, roleName, roles } from "../ui/roles.ts";
import { type InvitationsView, invitationsSection } from "./invitations-page.ts";
import { organizationTabs } from "./organization-tabs.ts";

export interface MembersView {
  readonly visit: Visit;
  readonly members: readonly Member[];
  /** Undefined if the user may not invite people. */
  readonly invitations: InvitationsView | undefined;
  readonly notice?: Notice;
}

export function membersPage(options: MembersView): Html {
  const { visit, invitations } = options;
  const { view, session, may } = visit;
  const mayManage = may("manage_members");
  return html`<h1>${session.organizationName}</h1>
${organizationTabs(visit, "Members")}
${noticeBox(options.notice)}
<section aria-labelledby="members">
<h2 id="members">Members</h2>
<p>These people can use the dashboard for ${session.organizationName}, in both environments.</p>
${table(options, mayManage)}
${!mayManage && permissionHint(view, "manage_members", "invite people, change roles and remove members")}
<p class="actions"><a href="${view.path}/organization/leave">Leave ${session.organizationName}</a></p>
</section>
${invitations ? invitationsSection(invitations) : rolesSection()}`;
}

function table({ visit, members }: MembersView, mayManage: boolean): Html {
  const owners = mayManage
    ? html`<th scope="col">Two-factor</th><th scope="col">Last seen</th><th scope="col"><span class="unseen">Action</span></th>`
    : undefined;
  return html`<table class="members">
<thead><tr><th scope="col">Member</th><th scope="col">Role</th><th scope="col">Joined</th>${owners}</tr></thead>
<tbody>${members.map((member) => row(member, visit, mayManage))}</tbody>
</table>`;
}

function row(member: Member, { view, session, now }: Visit, mayManage: boolean): Html {
  const { userId, email, role, joinedAt, lastSeenAt, hasSecondFactor } = member;
  return html`<tr>
<th scope="row">${breakable(email)}${userId === session.userId && html` ${state("active", "you")}`}</th>
<td data-label="Role">${roleName(role)}</td>
<td data-label="Joined">${timeAgo(joinedAt, now)}</td>
${
  mayManage &&
  html`<td data-label="Two-factor">${hasSecondFactor ? state("pass", "on") : html`<span class="hint">off</span>`}</td>
<td data-label="Last seen">${timeAgo(lastSeenAt, now) ?? html`<span class="hint">never</span>`}</td>
<td class="action"><a class="button quiet" href="${view.path}/organization/members/${userId}">Manage<span class="unseen"> ${email}</span></a></td>`
}
</tr>
`;
}

function rolesSection(): Html {
  return html`<section class="card" aria-labelledby="roles">
<h2 id="roles">What each role can do</h2>
<dl class="facts">${[...roles.values()].map(({ name, may }) => html`<div><dt>${name}</dt><dd>${may}</dd></div>`)}</dl>
</section>`;
}
