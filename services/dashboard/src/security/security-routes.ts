import type { Express } from "express";
import type { PageHandler, SignedInPage } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import type { PasskeyHandlers } from "./passkeys.ts";
import type { SecurityHandlers } from "./security.ts";
import type { TwoFactorHandlers } from "./two-factor.ts";

/** Adds the routes of the user's own account, which every role may use. */
export function addSecurityRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    security: SecurityHandlers;
    twoFactor: TwoFactorHandlers;
    passkeys: PasskeyHandlers;
    requirePassword: (handle: PageHandler) => PageHandler;
  },
): void {
  const { signedIn, security, twoFactor, passkeys, requirePassword } = options;
  const path = `${view.path}/security`;
  app.get(path, signedIn(view, "read", security.view));
  app.post(`${path}/sessions/end`, signedIn(view, "read", security.endSession));
  app.post(`${path}/sessions/end-others`, signedIn(view, "read", security.endOtherSessions));
  app.post(`${path}/password`, signedIn(view, "read", security.changePassword));
  app.get(`${path}/confirm`, signedIn(view, "read", security.askForPassword));
  app.post(`${path}/confirm`, signedIn(view, "read", security.confirmPassword));
  app.get(`${path}/confirm/passkey`, signedIn(view, "read", passkeys.askToConfirm));
  app.post(`${path}/confirm/passkey`, signedIn(view, "read", passkeys.confirm));
  app.get(`${path}/passkeys/new`, signedIn(view, "read", requirePassword(passkeys.ask)));
  app.post(`${path}/passkeys`, signedIn(view, "read", requirePassword(passkeys.add)));
  app.post(`${path}/passkeys/remove`, signedIn(view, "read", requirePassword(passkeys.remove)));
  app.get(`${path}/two-factor`, signedIn(view, "read", requirePassword(twoFactor.setUp)));
  app.post(`${path}/two-factor`, signedIn(view, "read", requirePassword(twoFactor.enable)));
  app.post(`${path}/two-factor/disable`, signedIn(view, "read", requirePassword(twoFactor.disable)));
  // Opening the address of a form's answer leads back to the security page.
  const forms = ["password", "passkeys", "passkeys/remove", "two-factor/disable", "sessions{/:form}"];
  app.get(
    forms.map((form) => `${path}/${form}`),
    (_request, response) => response.redirect(303, path),
  );
}
