import type { SessionSummary } from "@vvs/proto/account/v1/sessions";
import type { Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { confirmedPath, nextPath } from "../http/next-path.ts";
import { fieldProblem } from "../http/refusal.ts";
import { keepSession, type PageHandlers, type Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { browserName } from "../ui/browser-name.ts";
import { NEW_PASSWORD_HINT, passwordField } from "../ui/fields.ts";
import { CONFIRMED, card, type Notice, noticeOf, section, state, timeAgo } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { passkeysSection } from "./passkeys.ts";
import { twoFactorSection } from "./two-factor.ts";

const notices = {
  ended: "The session has ended. That browser has to sign in again.",
  "others-ended": "All other sessions have ended. You are signed in only in this browser.",
  confirmed: CONFIRMED,
  "passkey-added": "The passkey was added. You can now sign in with it.",
  "passkey-removed":
    "The passkey was removed. Also delete it from the device that keeps it, or it will still be offered.",
  "two-factor-off": "Two-factor sign-in is off. You can now sign in with only your password.",
  password: "Your password was changed. All other sessions have ended.",
};

/** Creates the handlers of the security page, where users manage their own account. */
export function createSecurityHandlers({ sessions, passkeys, layout }: PageContext) {
  async function send(
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice; passwordProblems?: PasswordProblems },
  ): Promise<void> {
    const [{ sessions: own }, secondFactor, registered] = await Promise.all([
      sessions.listSessions(visit.self),
      sessions.getSecondFactor(visit.self),
      passkeys.listPasskeys(visit.self),
    ]);
    const { status, notice, passwordProblems } = shown;
    const { path } = visit.view;
    const content = html`<p>These settings are for <strong>${visit.session.email}</strong>, in both environments. Which emails you get is set under <a href="${path}/notifications">Notifications</a>.</p>
${sessionsSection(visit, own)}
${passkeysSection(path, registered.passkeys)}
${(secondFactor.enabledAt || !visit.session.identityProviderId) && twoFactorSection(path, secondFactor)}
${passwordSection(visit, passwordProblems)}`;
    layout.sendPage(response, { visit, title: "Security", status, notice, content });
  }

  async function sendConfirm(
    response: Response,
    visit: Visit,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const listed = await passkeys.listPasskeys(visit.self);
    const content = confirmPasswordPage({ ...shown, visit, hasPasskey: listed.passkeys.length > 0 });
    const title = visit.session.identityProviderId ? "Confirm your identity" : "Confirm your password";
    layout.sendCard(response, { visit, title, status: shown.problem ? 400 : 200, content });
  }

  return {
    view: (request, response, visit) => send(response, visit, { notice: noticeOf(request, notices) }),

    async endSession(request, response, visit) {
      await sessions.endSession({ ...visit.self, sessionId: field(request, "session_id") });
      response.redirect(303, `${visit.view.path}/security?done=ended`);
    },

    async endOtherSessions(_request, response, visit) {
      await sessions.endOtherSessions(visit.self);
      response.redirect(303, `${visit.view.path}/security?done=others-ended`);
    },

    async changePassword(request, response, visit) {
      const password = field(request, "password");
      if (password !== field(request, "again")) {
        const passwordProblems = { again: "The two new passwords are not the same." };
        return send(response, visit, { status: 400, passwordProblems });
      }
      try {
        const currentPassword = field(request, "current_password");
        keepSession(response, await sessions.changePassword({ ...visit.self, currentPassword, password }));
        response.redirect(303, `${visit.view.path}/security?done=password`);
      } catch (error) {
        const current = fieldProblem(error, "current_password");
        const replacement = fieldProblem(error, "password");
        const passwordProblems: PasswordProblems = {
          current: current && `This ${current}.`,
          replacement: replacement && `The new password ${replacement}.`,
        };
        await send(response, visit, { status: 400, passwordProblems });
      }
    },

    askForPassword: (request, response, visit) =>
      sendConfirm(response, visit, { next: nextPath(queryValue(request, "next")) }),

    async confirmPassword(request, response, visit) {
      const next = nextPath(field(request, "next"));
      try {
        keepSession(response, await sessions.reauthenticate({ ...visit.self, password: field(request, "password") }));
        response.redirect(303, confirmedPath(next));
      } catch (error) {
        await sendConfirm(response, visit, { next, problem: `This ${fieldProblem(error, "password")}.` });
      }
    },
  } satisfies PageHandlers;
}

/** Why a change of password was refused, by field. */
type PasswordProblems = { readonly [F in "current" | "replacement" | "again"]?: string | undefined };

function passwordSection({ view, session }: Visit, problems: PasswordProblems = {}): Html {
  const passwordCard = card("password-heading", "Password");
  if (session.identityProviderId) {
    return passwordCard`<p>You signed in with your organization’s identity provider. If you also have a password here, sign in with it to change it or to set up an authenticator app.</p>`;
  }
  return passwordCard`<form method="post" action="${view.path}/security/password">
  ${passwordField({ name: "current_password", label: "Current password", autocomplete: "current-password", problem: problems.current })}
  ${passwordField({ name: "password", label: "New password", autocomplete: "new-password", problem: problems.replacement, hint: NEW_PASSWORD_HINT })}
  ${passwordField({ name: "again", label: "Repeat the new password", autocomplete: "new-password", problem: problems.again })}
  <p class="hint">Changing your password ends all your other sessions.</p>
  <button>Change password</button>
</form>`;
}

function sessionsSection({ view: { path: base }, now }: Visit, sessions: readonly SessionSummary[]): Html {
  const rows = sessions.map((session) => ({ ...session, browser: browserName(session.userAgent) }));
  const hasOthers = sessions.some(({ isCurrent }) => !isCurrent);
  return section("sessions", "Where you are signed in")`
<p class="hint">A session ends after 12 hours without use, and 7 days after its start at the latest. If you do not recognize a session, end it and change your password.</p>
${table("", rows, [
  ["Browser", ({ browser, isCurrent }) => html`${browser}${isCurrent && html` ${state("active", "this browser")}`}`],
  ["IP address", ({ clientAddress }) => (clientAddress ? html`<code>${clientAddress}</code>` : "unknown")],
  ["Started", ({ beganAt }) => timeAgo(beganAt, now)],
  ["Last used", ({ lastUsedAt }) => timeAgo(lastUsedAt, now)],
  [
    "Action",
    ({ isCurrent, id, browser }) =>
      !isCurrent &&
      html`<form method="post" action="${base}/security/sessions/end"><input type="hidden" name="session_id" value="${id}"><button class="quiet">End<span class="unseen"> the session of ${browser}</span></button></form>`,
    "action",
  ],
])}
${
  hasOthers &&
  html`<form method="post" action="${base}/security/sessions/end-others" class="actions"><button class="danger">End all other sessions</button></form>`
}`;
}

/** The page that asks signed-in users to confirm their password, and then leads to `next`. */
function confirmPasswordPage(options: { visit: Visit; next: string; hasPasskey: boolean; problem?: string }): Html {
  const { visit, next, problem } = options;
  const { identityProviderId, email } = visit.session;
  if (identityProviderId) {
    return html`<p>To protect the account of <strong>${email}</strong>, sign in again with your organization’s identity provider before you continue. You will not be asked again for 15 minutes.</p>
<p class="choices"><a class="button" href="/sign-in/sso/${identityProviderId}?again&amp;next=${encodeURIComponent(next)}">Sign in again</a> <a class="button quiet" href="${next}">Go back</a></p>`;
  }
  return html`<p>To protect the account of <strong>${email}</strong>, enter your password before you continue. You will not be asked again for 15 minutes.</p>
<form method="post" action="${visit.view.path}/security/confirm">
  <input type="hidden" name="next" value="${next}">
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", problem, autofocus: true })}
  <p class="choices"><button>Confirm</button> ${options.hasPasskey && html`<a class="button quiet" href="${visit.view.path}/security/confirm/passkey?next=${encodeURIComponent(next)}">Use a passkey</a> `}<a class="button quiet" href="${next}">Go back</a></p>
</form>`;
}
