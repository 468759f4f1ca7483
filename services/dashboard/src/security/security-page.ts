import type { Passkey } from "@vvs/proto/account/v1/passkeys";
import type { GetSecondFactorResponse, SessionSummary } from "@vvs/proto/account/v1/sessions";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { browserName } from "../ui/browser-name.ts";
import { type Notice, noticeBox, timeAgo } from "../ui/parts.ts";
import { NEW_PASSWORD_HINT, passwordField } from "../ui/text-field.ts";
import { passkeysSection } from "./passkeys-page.ts";
import { twoFactorSection } from "./two-factor-page.ts";

/** Why a change of password was refused, by field. */
export type PasswordProblems = { readonly [F in "current" | "replacement" | "again"]?: string | undefined };

export function securityPage(options: {
  visit: Visit;
  sessions: readonly SessionSummary[];
  secondFactor: GetSecondFactorResponse;
  passkeys: readonly Passkey[];
  notice?: Notice;
  passwordProblems?: PasswordProblems;
}): Html {
  const { visit, sessions } = options;
  return html`<h1>Security</h1>
${noticeBox(options.notice)}
<p>These settings are for <strong>${visit.session.email}</strong>, in both environments.</p>
${sessionsSection(visit, sessions)}
${passkeysSection(visit.view.path, options.passkeys)}
${twoFactorSection(visit.view.path, options.secondFactor)}
${passwordSection(visit.view.path, options.passwordProblems)}`;
}

function passwordSection(base: string, problems: PasswordProblems = {}): Html {
  return html`<section class="card" aria-labelledby="password-heading">
<h2 id="password-heading">Password</h2>
<form method="post" action="${base}/security/password">
  ${passwordField({ name: "current_password", label: "Current password", autocomplete: "current-password", problem: problems.current })}
  ${passwordField({ name: "password", label: "New password", autocomplete: "new-password", problem: problems.replacement, hint: NEW_PASSWORD_HINT })}
  ${passwordField({ name: "again", label: "Repeat the new password", autocomplete: "new-password", problem: problems.again })}
  <p class="hint">Changing your password ends all your other sessions.</p>
  <button>Change password</button>
</form>
</section>`;
}

function sessionsSection({ view: { path: base }, now }: Visit, sessions: readonly SessionSummary[]): Html {
  const hasOthers = sessions.some(({ isCurrent }) => !isCurrent);
  return html`<section aria-labelledby="sessions">
<h2 id="sessions">Where you are signed in</h2>
<p class="hint">A session ends after 12 hours without use, and 7 days after its start at the latest. If you do not recognize a session, end it and change your password.</p>
<table>
<thead><tr><th scope="col">Browser</th><th scope="col">IP address</th><th scope="col">Started</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Action</span></th></tr></thead>
<tbody>${sessions.map((session) => sessionRow(base, session, now))}</tbody>
</table>
${
  hasOthers &&
  html`<form method="post" action="${base}/security/sessions/end-others" class="actions"><button class="danger">End all other sessions</button></form>`
}
</section>`;
}

function sessionRow(base: string, session: SessionSummary, now: Date): Html {
  const browser = browserName(session.userAgent);
  return html`<tr>
<th scope="row">${browser}${session.isCurrent && html` <span class="state active">this browser</span>`}</th>
<td data-label="IP address">${session.clientAddress ? html`<code>${session.clientAddress}</code>` : "unknown"}</td>
<td data-label="Started">${timeAgo(session.beganAt, now)}</td>
<td data-label="Last used">${timeAgo(session.lastUsedAt, now)}</td>
<td class="action">${
    !session.isCurrent &&
    html`<form method="post" action="${base}/security/sessions/end"><input type="hidden" name="session_id" value="${session.id}"><button class="quiet">End<span class="unseen"> the session of ${browser}</span></button></form>`
  }</td>
</tr>
`;
}
