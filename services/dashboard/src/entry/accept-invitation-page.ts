import type { GetInvitationResponse } from "@vvs/proto/account/v1/invitations";
import { type Html, html } from "../http/html.ts";
import { roleName, roles } from "../ui/roles.ts";
import { NEW_PASSWORD_HINT, passwordField } from "../ui/text-field.ts";

/** The page that the link of an invitation opens. */
export function acceptInvitationPage(options: {
  token: string;
  invitation: Pick<GetInvitationResponse, "email" | "organizationName" | "role" | "invitedByEmail" | "hasAccount">;
  problem?: string;
}): Html {
  const { token, invitation, problem } = options;
  const { email, organizationName, role, invitedByEmail } = invitation;
  const may = roles.get(role)?.may;
  return html`<div class="card narrow">
<h1>Join ${organizationName}</h1>
<p>${invitedByEmail ? html`<strong>${invitedByEmail}</strong> invites you` : "You are invited"} to join <strong>${organizationName}</strong> in Vendor Verification. Your role will be <strong>${roleName(role)}</strong>${may && html`, which ${may}`}.</p>
${
  invitation.hasAccount
    ? html`<p class="notice warning"><strong>${email} already has an account.</strong> An email address can belong to only one organization. Sign in and leave that organization first, or ask to be invited with another address.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>`
    : html`<form method="post" action="/invitation">
  <input type="hidden" name="token" value="${token}">
  <label for="email">Email address</label>
  <input id="email" type="email" name="email" autocomplete="username" value="${email}" readonly>
  ${passwordField({ name: "password", label: "Choose a password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  <button>Join</button>
</form>`
}
</div>`;
}

/** The page for a new member whose organization does not allow passwords; `how` says how to sign in. */
export function joinedPage(how: string): Html {
  return html`<div class="card narrow">
<h1>You have joined</h1>
<p>You are now a member of the organization. ${how}</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>
</div>`;
}

/** The page for an invitation whose link no longer works. */
export function invalidInvitationPage(): Html {
  return html`<div class="card narrow">
<h1>This invitation link no longer works</h1>
<p>The invitation was already accepted, sent again with a new link, revoked or is older than 7 days, or a part of the link is missing. Ask the person who invited you to send it again.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>
</div>`;
}
