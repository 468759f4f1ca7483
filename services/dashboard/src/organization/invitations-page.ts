import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Invitation } from "@vvs/proto/account/v1/invitations";
import { type Html, html } from "../http/html.ts";
import { confirmPath } from "../http/next-path.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { breakable, state, time } from "../ui/parts.ts";
import { roleName, roles } from "../ui/roles.ts";
import { emailField } from "../ui/text-field.ts";

/** The input of a refused invitation form, and why it was refused. */
export interface RefusedInvitation {
  readonly email: string;
  readonly role: string;
  readonly problem: string;
}

export interface InvitationsView {
  readonly view: EnvironmentView;
  readonly invitations: readonly Invitation[];
  readonly now: Date;
  /** Whether the password was entered recently enough to invite people. */
  readonly mayInvite: boolean;
  readonly refused?: RefusedInvitation;
}

/** The role selected at first. */
const DEFAULT_ROLE = "developer";

export function invitationsSection(options: InvitationsView): Html {
  const { view, invitations } = options;
  return html`${
    invitations.length > 0 &&
    html`<section aria-labelledby="invited">
<h2 id="invited">Invitations</h2>
<table class="members">
<thead><tr><th scope="col">Email address</th><th scope="col">Role</th><th scope="col">Sent</th><th scope="col">State</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>${invitations.map((each) => row(each, options))}</tbody>
</table>
</section>`
  }
<section class="card" aria-labelledby="invite">
<h2 id="invite">Invite someone</h2>
${options.mayInvite ? inviteForm(options) : confirmFirst(view)}
</section>`;
}

function confirmFirst(view: EnvironmentView): Html {
  return html`<p>A new member can see your organization’s data. You entered your password more than 15 minutes ago, so confirm it first.</p>
<p><a class="button" href="${confirmPath(view, "GET", `${view.path}/organization/members`)}">Confirm your password</a></p>`;
}

function inviteForm({ view, refused }: InvitationsView): Html {
  return html`<form method="post" action="${view.path}/organization/members/invitations">
  ${emailField({ value: refused?.email ?? "", problem: refused?.problem, autocomplete: "off" })}
  <fieldset>
    <legend>Role</legend>
    ${roleChoices(refused?.role ?? DEFAULT_ROLE)}
  </fieldset>
  <p class="hint">They get an email with a link to choose a password and join. The link works for 7 days.</p>
  <button>Send invitation</button>
</form>`;
}

/** Renders the roles to choose from. */
export function roleChoices(picked: string): Html[] {
  return [...roles].map(
    ([role, { name, may }]) =>
      html`<label class="check"><input type="radio" name="role" value="${role}" required${role === picked && html` checked`}> <span>${name} <span class="hint">${may}</span></span></label>`,
  );
}

function row(invitation: Invitation, { view, now }: InvitationsView): Html {
  const { id, email, role, sentAt, expiresAt, invitedByEmail } = invitation;
  const path = `${view.path}/organization/members/invitations/${id}`;
  const isOver = timestampDate(expiresAt!) <= now;
  return html`<tr>
<th scope="row">${breakable(email)}</th>
<td data-label="Role">${roleName(role)}</td>
<td data-label="Sent">${time(sentAt)}${invitedByEmail && html` <span class="hint block">by ${breakable(invitedByEmail)}</span>`}</td>
<td data-label="State">${isOver ? state("expired") : html`${state("pending", "not accepted yet")} <span class="hint block">until ${time(expiresAt)}</span>`}</td>
<td class="action">
<form method="post" action="${path}/resend"><button class="quiet">Send again<span class="unseen"> to ${email}</span></button></form>
<form method="post" action="${path}/revoke"><button class="quiet">Revoke<span class="unseen"> the invitation for ${email}</span></button></form>
</td>
</tr>
`;
}
