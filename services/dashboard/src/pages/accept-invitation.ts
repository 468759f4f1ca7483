import type { GetInvitationResponse } from "@vvs/proto/account/v1/invitations";
import { type Html, html } from "../http/html.ts";
import { roleName, roleNames } from "../role-names.ts";
import { NEW_PASSWORD_HINT, passwordField } from "./password-field.ts";

/** Where the link of an invitation leads. */
export function acceptInvitationPage(options: {
  token: string;
  invitation: Pick<GetInvitationResponse, "email" | "organizationName" | "role" | "invitedByEmail" | "hasAccount">;
  problem?: string;
}): Html {
  const { token, invitation, problem } = options;
  const { email, organizationName, role, invitedByEmail } = invitation;
  const may = roleNames[role]?.may;
  return html`<div class="card narrow">
<h1>Join ${organizationName}</h1>
<p>${invitedByEmail ? html`<strong>${invitedByEmail}</strong> invites you` : "You are invited"} to use Vendor Verification with <strong>${organizationName}</strong>, as <strong>${roleName(role)}</strong>${may && html`: ${may}`}.</p>
${
  invitation.hasAccount
    ? html`<p class="notice warning"><strong>${email} has an account already.</strong> An address belongs to one organization. Leave that one first, or ask to be invited at another address.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>`
    : html`<form method="post" action="/invitation">
  <input type="hidden" name="token" value="${token}">
  <label for="email">You will sign in with</label>
  <input id="email" type="email" name="email" autocomplete="username" value="${email}" readonly>
  ${passwordField({ name: "password", label: "Choose a password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  <button>Join</button>
</form>`
}
</div>`;
}

/** To a new member whose organization takes no password; `how` says what it takes. */
export function joinedPage(how: string): Html {
  return html`<div class="card narrow">
<h1>You have joined</h1>
<p>You are a member now. ${how}</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>
</div>`;
}

/** In the place of the above where the link is of no use any more. */
export function invitationOverPage(): Html {
  return html`<div class="card narrow">
<h1>This invitation is of no use any more</h1>
<p>It was accepted already, sent again with a new link, or revoked, its 7 days are over, or a part of the link is missing. Ask who invited you to send it again.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>
</div>`;
}
