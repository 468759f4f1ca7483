import type { Express } from "express";
import type { EnvironmentView } from "./environments.ts";
import type { PageHandler, SignedInPage } from "./http/session.ts";
import type { SecurityHandlers } from "./security.ts";
import type { TwoFactorHandlers } from "./two-factor.ts";

/** The routes of what users see and do of their own account; every role may. */
export function addSecurityRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    security: SecurityHandlers;
    twoFactor: TwoFactorHandlers;
    recently: (handle: PageHandler) => PageHandler;
  },
): void {
  const { signedIn, security, twoFactor, recently } = options;
  const path = `${view.path}/security`;
  app.get(path, signedIn(view, "read", security.view));
  app.post(`${path}/sessions/end`, signedIn(view, "read", security.endSession));
  app.post(`${path}/sessions/end-others`, signedIn(view, "read", security.endOtherSessions));
  app.post(`${path}/password`, signedIn(view, "read", security.changePassword));
  app.get(`${path}/confirm`, signedIn(view, "read", security.askForPassword));
  app.post(`${path}/confirm`, signedIn(view, "read", security.confirmPassword));
  app.get(`${path}/two-factor`, signedIn(view, "read", recently(twoFactor.setUp)));
  app.post(`${path}/two-factor`, signedIn(view, "read", recently(twoFactor.enable)));
  app.post(`${path}/two-factor/disable`, signedIn(view, "read", recently(twoFactor.disable)));
  // Where a form led is no page of its own.
  app.get([`${path}/password`, `${path}/two-factor/disable`, `${path}/sessions{/:form}`], (_request, response) =>
    response.redirect(303, path),
  );
}
