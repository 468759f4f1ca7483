import type { Passkey } from "@vvs/proto/account/v1/passkeys";
import { type Html, html } from "../http/html.ts";
import { problemNotice } from "../ui/notices.ts";
import { noticeBox, time } from "../ui/parts.ts";
import { textField } from "../ui/text-field.ts";

/** The passkeys section of the security page. */
export function passkeysSection(base: string, passkeys: readonly Passkey[]): Html {
  return html`<section class="card" aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p>A passkey signs you in with your fingerprint, face or PIN instead of a password and a code. It works only on this site, so a fake site can’t steal it.</p>
${
  passkeys.length === 0
    ? html`<p>You have no passkeys yet.</p>`
    : html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Action</span></th></tr></thead>
<tbody>${passkeys.map((passkey) => passkeyRow(base, passkey))}</tbody>
</table>`
}
<p class="actions"><a class="button" href="${base}/security/passkeys/new">Add a passkey</a></p>
</section>`;
}

function passkeyRow(base: string, { id, name, createdAt, lastUsedAt }: Passkey): Html {
  return html`<tr>
<th scope="row">${name}</th>
<td data-label="Added">${time(createdAt)}</td>
<td data-label="Last used">${time(lastUsedAt) ?? "never"}</td>
<td class="action"><form method="post" action="${base}/security/passkeys/remove"><input type="hidden" name="passkey_id" value="${id}"><button class="quiet">Remove<span class="unseen"> the passkey ${name}</span></button></form></td>
</tr>
`;
}

/** The page that lets the browser create a passkey. */
export function addPasskeyPage(options: {
  base: string;
  optionsJson: string;
  name: string;
  problem?: string;
  nameProblem?: string;
}): Html {
  const { base, optionsJson, name, problem, nameProblem } = options;
  return html`<div class="card narrow">
<h1>Add a passkey</h1>
${problem && noticeBox(problemNotice(problem))}
${noPasskeys(html`<a href="${base}/security">Go back</a> and keep signing in with your password.`)}
<form method="post" action="${base}/security/passkeys" data-passkey="create" data-options="${optionsJson}" hidden>
  <input type="hidden" name="response">
  ${textField({ name: "name", label: "Name", autocomplete: "off", maxLength: 100, value: name, hint: "A name that you will recognize, such as the device or password manager that keeps the passkey.", problem: nameProblem })}
  ${browserProblem}
  <p class="choices"><button>Add passkey</button> <a class="button quiet" href="${base}/security">Go back</a></p>
</form>
</div>`;
}

/** The page that lets the browser sign in with a passkey. */
export function passkeySignInPage(options: {
  next: string;
  ceremony: string;
  optionsJson: string;
  problem?: string;
}): Html {
  return usePasskeyPage({
    ...options,
    title: "Sign in with a passkey",
    action: "/sign-in/passkey",
    reason: html`Your device asks for your fingerprint, face or PIN.`,
    byPassword: { path: "/sign-in", text: "Sign in with your password." },
  });
}

/** The page that asks signed-in users to confirm their identity with a passkey, and then leads to `next`. */
export function passkeyConfirmPage(options: {
  base: string;
  email: string;
  next: string;
  optionsJson: string;
  problem?: string;
}): Html {
  const { base, email } = options;
  return usePasskeyPage({
    ...options,
    title: "Confirm with a passkey",
    action: `${base}/security/confirm/passkey`,
    reason: html`To protect the account of <strong>${email}</strong>, use your passkey before you continue. You will not be asked again for 15 minutes.`,
    byPassword: { path: `${base}/security/confirm`, text: "Confirm with your password." },
  });
}

/** Renders the page that lets the browser use a passkey; it starts immediately unless the last try failed. */
function usePasskeyPage(options: {
  title: string;
  action: string;
  reason: Html;
  byPassword: { path: string; text: string };
  next: string;
  /** Tells the sign-ins of several tabs apart. */
  ceremony?: string;
  optionsJson: string;
  problem?: string;
}): Html {
  const { next, ceremony, problem, byPassword } = options;
  const passwordPath = `${byPassword.path}?next=${encodeURIComponent(next)}`;
  return html`<div class="card narrow">
<h1>${options.title}</h1>
${problem && noticeBox(problemNotice(problem))}
${noPasskeys(html`<a href="${passwordPath}">${byPassword.text}</a>`)}
<form method="post" action="${options.action}" data-passkey="get" data-options="${options.optionsJson}"${!problem && html` data-now`} hidden>
  <input type="hidden" name="response">
  <input type="hidden" name="next" value="${next}">
  ${ceremony && html`<input type="hidden" name="ceremony" value="${ceremony}">`}
  <p>${options.reason}</p>
  ${browserProblem}
  <p class="choices"><button>Use a passkey</button> <a class="button quiet" href="${passwordPath}">Use your password</a></p>
</form>
</div>`;
}

const browserProblem = html`<p class="field-problem" role="alert" data-passkey-problem hidden></p>`;

/** The note for browsers without passkeys; the script hides it in browsers with passkeys. */
function noPasskeys(instead: Html): Html {
  return html`<p data-no-passkeys>This browser does not support passkeys, or its scripts are turned off. ${instead}</p>`;
}
