import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import type { Session, SessionService } from "@vvs/proto/account/v1/sessions";
import type { Client } from "@vvs/rpc";
import type { Request, Response } from "express";
import { writeCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { type PageHandler, sessionCaller, type Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import { confirmPasswordPage } from "./confirm-password-page.ts";
import { type PasswordProblems, securityPage } from "./security-page.ts";

type Sessions = Pick<
  Client<typeof SessionService>,
  "listSessions" | "endSession" | "endOtherSessions" | "reauthenticate" | "changePassword" | "getSecondFactor"
>;

type Passkeys = Pick<Client<typeof PasskeyService>, "listPasskeys">;

/** Handlers of the security page, where users manage their own account. */
export interface SecurityHandlers {
  readonly view: PageHandler;
  readonly endSession: PageHandler;
  readonly endOtherSessions: PageHandler;
  readonly changePassword: PageHandler;
  readonly askForPassword: PageHandler;
  readonly confirmPassword: PageHandler;
}

const done: Readonly<Record<string, string>> = {
  ended: "The session has ended. That browser has to sign in again.",
  "others-ended": "All other sessions have ended. You are signed in only in this browser.",
  confirmed: "Your identity is confirmed. Your previous action was not carried out yet. Start it again.",
  "passkey-added": "The passkey was added. You can now sign in with it.",
  "passkey-removed":
    "The passkey was removed. Also delete it from the device that keeps it, or it will still be offered.",
  "two-factor-off": "Two-factor sign-in is off. You can now sign in with only your password.",
  password: "Your password was changed. All other sessions have ended.",
};

export function createSecurityHandlers(options: {
  sessions: Sessions;
  passkeys: Passkeys;
  layout: Layout;
}): SecurityHandlers {
  const { layout } = options;
  async function send(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice; passwordProblems?: PasswordProblems },
  ): Promise<void> {
    const caller = sessionCaller(request, response);
    const [{ sessions }, secondFactor, { passkeys }] = await Promise.all([
      options.sessions.listSessions({ caller }),
      options.sessions.getSecondFactor({ caller }),
      options.passkeys.listPasskeys({ caller }),
    ]);
    const content = securityPage({ ...shown, visit, sessions, secondFactor, passkeys });
    layout.sendPage(response, { visit, section: "security", title: "Security", status: shown.status, content });
  }

  async function sendConfirm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const { next, problem } = shown;
    const { passkeys } = await options.passkeys.listPasskeys({ caller: sessionCaller(request, response) });
    const content = confirmPasswordPage({ visit, next, problem, hasPasskey: passkeys.length > 0 });
    const title = "Confirm your password";
    layout.sendPage(response, { visit, section: "security", title, status: problem ? 400 : 200, content });
  }

  return {
    view(request, response, visit) {
      const text = typeof request.query.done === "string" ? done[request.query.done] : undefined;
      return send(request, response, visit, { notice: text ? { kind: "done", text } : undefined });
    },

    async endSession(request, response, visit) {
      const caller = sessionCaller(request, response);
      await options.sessions.endSession({ caller, sessionId: field(request, "session_id") });
      response.redirect(303, `${visit.view.path}/security?done=ended`);
    },

    async endOtherSessions(request, response, visit) {
      await options.sessions.endOtherSessions({ caller: sessionCaller(request, response) });
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
        keepSession(response, await options.sessions.changePassword({ caller, currentPassword, password }));
        response.redirect(303, `${visit.view.path}/security?done=password`);
      } catch (error) {
        const current = problemOf(error, "current_password");
        const wanted = problemOf(error, "password");
        const passwordProblems: PasswordProblems = {
          current: current && `This ${current}.`,
          wanted: wanted && `The new password ${wanted}.`,
        };
        await send(request, response, visit, { status: 400, passwordProblems });
      }
    },

    async askForPassword(request, response, visit) {
      await sendConfirm(request, response, visit, { next: nextPath(queryValue(request, "next")) });
    },

    async confirmPassword(request, response, visit) {
      const next = nextPath(field(request, "next"));
      const caller = sessionCaller(request, response);
      try {
        keepSession(response, await options.sessions.reauthenticate({ caller, password: field(request, "password") }));
        response.redirect(303, `${next}?done=confirmed`);
      } catch (error) {
        await sendConfirm(request, response, visit, { next, problem: `This ${problemOf(error, "password")}.` });
      }
    },
  };
}

/** Replaces the browser's session with a renewed one. */
function keepSession(response: Response, renewed: { sessionToken: string; session?: Session }): void {
  writeCookie(response, "__Host-session", renewed.sessionToken, timestampDate(renewed.session!.expiresAt!));
}

/** Returns the problem of a field; undefined if it has none. Errors that are not about fields are thrown as they are. */
function problemOf(error: unknown, path: string): string | undefined {
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  return error.details.find((detail) => detail.path === path)?.message;
}
