import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Html, html } from "../http/html.ts";
import { copyable, time } from "./parts.ts";

/** What is known of a user's second factor. */
export interface SecondFactorView {
  readonly enabledAt?: Timestamp;
  readonly recoveryCodesLeft: number;
}

/** On the security page. */
export function twoFactorSection(base: string, { enabledAt, recoveryCodesLeft }: SecondFactorView): Html {
  return html`<section class="card" aria-labelledby="two-factor">
<h2 id="two-factor">Two-factor sign-in</h2>
${
  enabledAt && timestampDate(enabledAt)
    ? html`<p><span class="state active">on</span> since ${time(enabledAt)}. A sign-in asks for a code of your authenticator app too.</p>
<p>${recoveryCodesLeft} of 10 recovery codes left. To get new ones, turn it off and set it up again.</p>
<form method="post" action="${base}/security/two-factor/disable"><button class="danger">Turn it off</button></form>`
    : html`<p>Off: who knows your password can sign in. With an authenticator app on your phone, or in your password manager, they need a code of it too.</p>
<p><a class="button" href="${base}/security/two-factor">Set up an app</a></p>`
}
</section>`;
}

/** Shows the secret for the app, and asks for a code of it. */
export function setUpPage(options: { base: string; secret: string; uri: string; problem?: string }): Html {
  const { base, secret, uri, problem } = options;
  return html`<p class="path"><a href="${base}/security">Security</a></p>
<h1>Set up an authenticator app</h1>
<section class="card" aria-labelledby="step-1">
<h2 id="step-1">1. Give the app this key</h2>
<p>Add an account in the app and type the key, or open it where the app is on this device. Its kind is time-based.</p>
${copyable("totp-secret", "The key", secret.replaceAll(/(.{4})(?=.)/g, "$1 "))}
<p><a class="button quiet" href="${uri}">Open in an app</a></p>
</section>
<section class="card" aria-labelledby="step-2">
<h2 id="step-2">2. Enter the code that it shows</h2>
<form method="post" action="${base}/security/two-factor">
  <label for="code">Code</label>
  <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="10"${problem && html` aria-invalid="true" aria-describedby="code-problem" autofocus`}>
  ${problem && html`<p class="field-problem" id="code-problem" role="alert">${problem}</p>`}
  <p class="hint">Wherever else you are signed in, you have to sign in again.</p>
  <button>Turn it on</button>
</form>
</section>`;
}

/** Shows the recovery codes, this once. */
export function recoveryCodesPage(base: string, codes: readonly string[]): Html {
  return html`<h1>Two-factor sign-in is on</h1>
<section class="card" aria-labelledby="codes">
<h2 id="codes">Keep your recovery codes</h2>
<p>Without the app, each of these signs you in once. They are shown only now: keep them where you would find them without your phone.</p>
${copyable("recovery-codes", "Recovery codes", codes.join("\n"))}
<p><a class="button" href="${base}/security">I have kept them</a></p>
</section>`;
}
