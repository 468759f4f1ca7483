import type { Member } from "@vvs/proto/account/v1/members";
import { type Html, html } from "../http/html.ts";
import { roleName, roles } from "../http/roles.ts";
import type { Visit } from "../http/session.ts";
import { choiceGroup } from "../ui/fields.ts";
import { card, copyableId, facts, time, timeAgo } from "../ui/parts.ts";

export interface MemberView {
  readonly visit: Visit;
  readonly member: Member;
  /** The last owner can neither be removed nor get another role. */
  readonly isLastOwner: boolean;
}

const LAST_OWNER = html`<p class="notice warning">This is the only owner, and an organization needs at least one. Make another member an owner first.</p>`;

export function memberPage({ visit, member, isLastOwner }: MemberView): Html {
  const path = `${visit.view.path}/organization/members`;
  const isOwn = member.userId === visit.session.userId;
  return html`${card("about", "About this member", "unseen")`${facts([
    ["Role", roleName(member.role)],
    ["Joined", time(member.joinedAt)],
    ["Two-factor", member.hasSecondFactor ? "on" : "off"],
    ["Last seen", timeAgo(member.lastSeenAt, visit.now) ?? "never"],
    ["User ID", copyableId(member.userId)],
  ])}
<p><a href="${visit.view.path}/organization/audit-log?actor=${member.userId}">View their actions in the audit log</a></p>`}
${isLastOwner ? LAST_OWNER : html`${roleForm(path, member)}${removal(path, member, isOwn, visit)}`}`;
}

function roleForm(path: string, member: Member): Html {
  return card("role", "Role")`<form method="post" action="${path}/${member.userId}">
  ${roleField(html`<span class="unseen">The role of ${member.email}</span>`, member.role)}
  <p class="hint">The new role takes effect when they open their next page. They do not need to sign in again.</p>
  <button>Change role</button>
</form>`;
}

/** Renders the choice of a role. */
export function roleField(legend: Html | string, picked: string): Html {
  const choices = [...roles].map(([value, { name, may }]) => ({ value, label: name, meaning: may }));
  return choiceGroup({ type: "radio", name: "role", legend, choices, picked: [picked], required: true });
}

function removal(path: string, member: Member, isOwn: boolean, { view, session }: Visit): Html {
  if (isOwn) {
    return html`<p class="actions"><a href="${view.path}/organization/leave">Leave ${session.organizationName}</a></p>`;
  }
  return card("remove", "Remove")`
<p>They are signed out everywhere immediately, and need a new invitation to come back.</p>
<p><a class="button quiet" href="${path}/${member.userId}/remove">Remove<span class="unseen"> ${member.email}</span> …</a></p>`;
}

/** The question that is asked before a member is removed. */
export function removeMemberPage({ visit, member, isLastOwner }: MemberView): Html {
  const path = `${visit.view.path}/organization/members/${member.userId}`;
  if (isLastOwner) return html`${LAST_OWNER}<p><a class="button" href="${path}">Go back</a></p>`;
  return html`<p>They are signed out everywhere immediately. API keys and monitors that they created keep working. Revoke the API keys that they may still have.</p>
<form method="post" action="${path}/remove" class="choices">
  <button class="danger">Remove member</button>
  <a class="button quiet" href="${path}">Keep member</a>
</form>`;
}

/** The question that is asked before the signed-in user leaves. */
export function leavePage({ view, session }: Visit, isLastOwner: boolean): Html {
  const back = `${view.path}/organization/members`;
  if (isLastOwner) {
    return html`<p class="notice warning">You are the only owner, and an organization needs at least one. Make another member an owner first.</p>
<p><a class="button" href="${back}">Go to members</a></p>`;
  }
  return html`<p>Your account <strong>${session.email}</strong> ends immediately. Everything that you created stays with the organization, including API keys. To come back, you need a new invitation.</p>
<form method="post" action="${view.path}/organization/leave" class="choices">
  <button class="danger">Leave organization</button>
  <a class="button quiet" href="${back}">Stay</a>
</form>`;
}
