import { html } from "../http/html.ts";
import { HOME } from "../http/next-path.ts";
import { isRefusal } from "../http/refusal.ts";
import { roleName, roles } from "../http/roles.ts";
import { browserOf, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { NEW_PASSWORD_HINT, passwordField } from "../ui/fields.ts";
import { createLinkForm } from "./link-form.ts";

const signInButton = html`<p class="choices"><a class="button" href="/sign-in">Sign in</a></p>`;

/** Creates the handlers with which people join an existing organization. */
export const createInvitation = ({ organization, layout, beginSession }: PageContext) =>
  createLinkForm(layout, {
    title: "Accept your invitation",
    read: (token) => organization.getInvitation({ token }),
    form({ email, organizationName, role, invitedByEmail, hasAccount }, token, problem) {
      const may = roles.get(role)?.may;
      return {
        heading: `Join ${organizationName}`,
        content: html`<p>${invitedByEmail ? html`<strong>${invitedByEmail}</strong> invites you` : "You are invited"} to join <strong>${organizationName}</strong> in Vendor Verification. Your role will be <strong>${roleName(role)}</strong>${may && html`, which ${may}`}.</p>
${
  hasAccount
    ? html`<p class="notice warning"><strong>${email} already has an account.</strong> An email address can belong to only one organization. Sign in and leave that organization first, or ask to be invited with another address.</p>
${signInButton}`
    : html`<form method="post" action="/invitation">
  ${token}
  <label for="email">Email address</label>
  <input id="email" type="email" name="email" autocomplete="username" value="${email}" readonly>
  ${passwordField({ name: "password", label: "Choose a password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  <button>Join</button>
</form>`
}`,
      };
    },
    invalid: {
      heading: "This invitation link no longer works",
      content: html`<p>The invitation was already accepted, sent again with a new link, revoked or is older than 7 days, or a part of the link is missing. Ask the person who invited you to send it again.</p>
${signInButton}`,
    },
    subject: "The password",
    async use(request, response, token, password) {
      try {
        const invited = { token, password, ...browserOf(request) };
        await beginSession(request, response, await organization.acceptInvitation(invited, whileConnected(response)));
        response.redirect(303, HOME);
      } catch (error) {
        // The organization does not allow passwords; the message says how to sign in.
        if (!isRefusal(error, "forbidden")) throw error;
        const content = html`<p>You are now a member of the organization. ${error.message}</p>
${signInButton}`;
        layout.sendCard(response, { title: "You have joined", content });
      }
    },
  });
