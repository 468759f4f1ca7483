import type { Request, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { fieldProblem } from "../http/refusal.ts";
import { keepSession, type PageHandlers, sessionCaller, type Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { CONFIRMED, noticeOf } from "../ui/notices.ts";
import type { Notice } from "../ui/parts.ts";
import { confirmPasswordPage } from "./confirm-password-page.ts";
import { type PasswordProblems, securityPage } from "./security-page.ts";

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
    request: Request,
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice; passwordProblems?: PasswordProblems },
  ): Promise<void> {
    const caller = sessionCaller(request, response);
    const [listed, secondFactor, registered] = await Promise.all([
      sessions.listSessions({ caller }),
      sessions.getSecondFactor({ caller }),
      passkeys.listPasskeys({ caller }),
    ]);
    const content = securityPage({ ...shown, visit, ...listed, secondFactor, ...registered });
    layout.sendPage(response, { visit, section: "security", title: "Security", status: shown.status, content });
  }

  async function sendConfirm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const listed = await passkeys.listPasskeys({ caller: sessionCaller(request, response) });
    const content = confirmPasswordPage({ ...shown, visit, hasPasskey: listed.passkeys.length > 0 });
    const title = "Confirm your password";
    layout.sendPage(response, { visit, section: "security", title, status: shown.problem ? 400 : 200, content });
  }

  return {
    view: (request, response, visit) => send(request, response, visit, { notice: noticeOf(request, notices) }),

    async endSession(request, response, visit) {
      const caller = sessionCaller(request, response);
      await sessions.endSession({ caller, sessionId: field(request, "session_id") });
      response.redirect(303, `${visit.view.path}/security?done=ended`);
    },

    async endOtherSessions(request, response, visit) {
      await sessions.endOtherSessions({ caller: sessionCaller(request, response) });
      response.redirect(303, `${visit.view.path}/security?done=others-ended`);
    },

    async changePassword(request, response, visit) {
      const password = field(request, "password");
      if (password !== field(request, "again")) {
        const passwordProblems = { again: "The two new passwords are not the same." };
        return send(request, response, visit, { status: 400, passwordProblems });
      }
      const caller = sessionCaller(request, response);
      try {
        const currentPassword = field(request, "current_password");
        keepSession(response, await sessions.changePassword({ caller, currentPassword, password }));
        response.redirect(303, `${visit.view.path}/security?done=password`);
      } catch (error) {
        const current = fieldProblem(error, "current_password");
        const replacement = fieldProblem(error, "password");
        const passwordProblems: PasswordProblems = {
          current: current && `This ${current}.`,
          replacement: replacement && `The new password ${replacement}.`,
        };
        await send(request, response, visit, { status: 400, passwordProblems });
      }
    },

    askForPassword: (request, response, visit) =>
      sendConfirm(request, response, visit, { next: nextPath(queryValue(request, "next")) }),

    async confirmPassword(request, response, visit) {
      const next = nextPath(field(request, "next"));
      const caller = sessionCaller(request, response);
      try {
        keepSession(response, await sessions.reauthenticate({ caller, password: field(request, "password") }));
        response.redirect(303, `${next}?done=confirmed`);
      } catch (error) {
        await sendConfirm(request, response, visit, { next, problem: `This ${fieldProblem(error, "password")}.` });
      }
    },
  } satisfies PageHandlers;
}
