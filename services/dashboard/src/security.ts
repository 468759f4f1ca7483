import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { AccountService, Session } from "@vvs/proto/account/v1/account";
import type { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import type { Client } from "@vvs/rpc";
import type { Request, Response } from "express";
import { writeCookie } from "./http/cookies.ts";
import { field } from "./http/form.ts";
import { nextPath } from "./http/next-path.ts";
import { queried } from "./http/queried.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { sessionCaller } from "./http/session-caller.ts";
import { confirmPasswordPage } from "./pages/confirm-password.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import { type PasswordProblems, securityPage } from "./pages/security.ts";

type Account = Pick<
  Client<typeof AccountService>,
  "listSessions" | "endSession" | "endOtherSessions" | "reauthenticate" | "changePassword" | "getSecondFactor"
>;

type Passkeys = Pick<Client<typeof PasskeyService>, "listPasskeys">;

/** What users see and do of the security of their own account. */
export interface SecurityHandlers {
  readonly view: PageHandler;
  readonly endSession: PageHandler;
  readonly endOtherSessions: PageHandler;
  readonly changePassword: PageHandler;
  readonly askForPassword: PageHandler;
  readonly confirmPassword: PageHandler;
}

const done: Readonly<Record<string, string>> = {
  ended: "The session has ended. Whoever used it has to sign in again.",
  "others-ended": "All other sessions have ended. This browser alone is signed in.",
  confirmed: "Your identity is confirmed. Nothing was done yet: choose again what you were about to do.",
  "passkey-added": "The passkey is added. You can sign in with it from now on.",
  "passkey-removed":
    "The passkey is removed. Delete it from the device that keeps it too, so that it is not offered there.",
  "two-factor-off": "Two-factor sign-in is off. Your password is enough to sign in.",
  password: "Your password is changed. All other sessions have ended.",
};

export function createSecurityHandlers(options: {
  account: Account;
  passkeys: Passkeys;
  layout: Layout;
}): SecurityHandlers {
  const { account, layout } = options;
  async function send(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { status?: number; notice?: Notice; passwordProblems?: PasswordProblems },
  ): Promise<void> {
    const caller = sessionCaller(request, response);
    const [{ sessions }, secondFactor, { passkeys }] = await Promise.all([
      account.listSessions({ caller }),
      account.getSecondFactor({ caller }),
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
      await account.endSession({ caller, sessionId: field(request, "session_id") });
      response.redirect(303, `${visit.view.path}/security?done=ended`);
    },

    async endOtherSessions(request, response, visit) {
      await account.endOtherSessions({ caller: sessionCaller(request, response) });
      response.redirect(303, `${visit.view.path}/security?done=others-ended`);
    },

    async changePassword(request, response, visit) {
      const password = field(request, "password");
      if (password !== field(request, "again")) {
        const passwordProblems = { again: "This is not the same as the new password." };
        return send(request, response, visit, { status: 400, passwordProblems });
      }
      const caller = sessionCaller(request, response);
      try {
        const currentPassword = field(request, "current_password");
        keepSession(response, await account.changePassword({ caller, currentPassword, password }));
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
      await sendConfirm(request, response, visit, { next: nextPath(queried(request, "next")) });
    },

    async confirmPassword(request, response, visit) {
      const next = nextPath(field(request, "next"));
      const caller = sessionCaller(request, response);
      try {
        keepSession(response, await account.reauthenticate({ caller, password: field(request, "password") }));
        response.redirect(303, `${next}?done=confirmed`);
      } catch (error) {
        await sendConfirm(request, response, visit, { next, problem: `This ${problemOf(error, "password")}.` });
      }
    },
  };
}

/** Has the browser go on with the session that took the place of its own. */
function keepSession(response: Response, replaced: { sessionToken: string; session?: Session }): void {
  writeCookie(response, "__Host-session", replaced.sessionToken, timestampDate(replaced.session!.expiresAt!));
}

/** What is wrong with a field, if anything. Errors: all that the user can't put right, as they are. */
function problemOf(error: unknown, path: string): string | undefined {
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  return error.details.find((detail) => detail.path === path)?.message;
}
