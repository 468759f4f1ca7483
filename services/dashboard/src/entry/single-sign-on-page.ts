import type { FindIdentityProviderResponse, IdentityProvider } from "@vvs/proto/account/v1/single_sign_on";
import { type Html, html } from "../http/html.ts";
import { problemNotice } from "../ui/notices.ts";
import { noticeBox } from "../ui/parts.ts";
import { emailField } from "../ui/text-field.ts";

/** The single sign-on options that the sign-in page offers. */
export type SingleSignOnChoices = Pick<FindIdentityProviderResponse, "providers" | "isUsed">;

/** Renders the single sign-on buttons of the sign-in page; nothing if no organization uses single sign-on. */
export function singleSignOnChoices({ providers, isUsed }: SingleSignOnChoices, next: string): Html | undefined {
  if (!isUsed) return undefined;
  return html`${providers.map((provider) => html`<p><a class="button quiet wide" href="${singleSignOnPath(provider, next)}">Sign in with ${provider.name}</a></p>`)}
<p><a class="button quiet wide" href="/sign-in/sso?next=${encodeURIComponent(next)}">Sign in with single sign-on</a></p>`;
}

/** The page that asks for the email address whose domain selects the identity provider. */
export function singleSignOnPage(options: { next: string; email: string; problem?: string | undefined }): Html {
  const { next, email, problem } = options;
  return html`<div class="card narrow">
<h1>Single sign-on</h1>
${problem && noticeBox(problemNotice(problem))}
<form method="post" action="/sign-in/sso">
  <input type="hidden" name="next" value="${next}">
  ${emailField({ label: "Work email address", value: email, hint: "You continue on your organization’s sign-in page, and come back here afterwards.", autofocus: true })}
  <p class="choices"><button>Continue</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Use a password</a></p>
</form>
</div>`;
}

/** The page before an identity provider. The security policy lets no form leave the dashboard, so a Refresh header or this link leads there. */
export function redirectPage(provider: IdentityProvider, next: string): Html {
  return html`<div class="card narrow">
<h1>Continue to ${provider.name}</h1>
<p>You are being redirected to ${provider.name} to sign in. If nothing happens, select the button.</p>
<p><a class="button" href="${singleSignOnPath(provider, next)}">Continue to ${provider.name}</a></p>
</div>`;
}

/** Returns the path that begins single sign-on with a provider. */
export function singleSignOnPath({ id }: Pick<IdentityProvider, "id">, next: string): string {
  return `/sign-in/sso/${id}?next=${encodeURIComponent(next)}`;
}
