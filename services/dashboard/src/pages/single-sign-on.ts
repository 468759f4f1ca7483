import type { FindIdentityProviderResponse, IdentityProvider } from "@vvs/proto/account/v1/single_sign_on";
import { type Html, html } from "../http/html.ts";
import { noticeBox } from "./parts.ts";

/** The ways to sign in beside a password. */
export type SingleSignOnChoices = Pick<FindIdentityProviderResponse, "providers" | "isUsed">;

/** Among the ways beside the password; nothing where no organization has an identity provider. */
export function singleSignOnChoices({ providers, isUsed }: SingleSignOnChoices, next: string): Html | undefined {
  if (!isUsed) return undefined;
  return html`${providers.map((provider) => html`<p><a class="button quiet wide" href="${singleSignOnPath(provider, next)}">Sign in with ${provider.name}</a></p>`)}
<p><a class="button quiet wide" href="/sign-in/sso?next=${encodeURIComponent(next)}">Single sign-on by e-mail address</a></p>`;
}

/** Asks for the address that tells which identity provider it is. */
export function singleSignOnPage(options: { next: string; email: string; problem?: string | undefined }): Html {
  const { next, email, problem } = options;
  return html`<div class="card narrow">
<h1>Single sign-on</h1>
${noticeBox(problem ? { kind: "problem", text: problem } : undefined)}
<form method="post" action="/sign-in/sso">
  <input type="hidden" name="next" value="${next}">
  <label for="email">Work e-mail address</label>
  <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}" autofocus aria-describedby="email-hint">
  <p class="hint" id="email-hint">You go on where your organization signs in, and come back here.</p>
  <p class="choices"><button>Continue</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Use a password</a></p>
</form>
</div>`;
}

/** On the way: pages may send forms to nobody else, so a link leads there, by itself where the browser may follow it. */
export function onTheWayPage(provider: IdentityProvider, next: string): Html {
  return html`<div class="card narrow">
<h1>On to ${provider.name}</h1>
<p>You are being taken to ${provider.name} to sign in.</p>
<p><a class="button" href="${singleSignOnPath(provider, next)}">Continue to ${provider.name}</a></p>
</div>`;
}

/** Sets out to a provider. */
export function singleSignOnPath({ id }: Pick<IdentityProvider, "id">, next: string): string {
  return `/sign-in/sso/${id}?next=${encodeURIComponent(next)}`;
}
