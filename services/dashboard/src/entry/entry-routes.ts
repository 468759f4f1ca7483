import type { Express, RequestHandler } from "express";
import type { PasswordResetHandlers } from "./password-reset.ts";
import type { SignUpHandlers } from "./sign-up.ts";

/** Adds the routes of signing up, resetting a password and the mailbox, which need no session. */
export function addEntryRoutes(
  app: Express,
  options: {
    signUp: SignUpHandlers;
    passwordReset: PasswordResetHandlers;
    /** Present only in a local run. */
    mailbox: RequestHandler | undefined;
  },
): void {
  const { signUp, passwordReset, mailbox } = options;
  app.get("/sign-up", signUp.show);
  app.post("/sign-up", signUp.signUp);
  app.post("/sign-up/resend", signUp.resend);
  app.get("/sign-up/confirm", signUp.askForPassword);
  app.post("/sign-up/confirm", signUp.confirm);
  app.get("/forgot-password", passwordReset.ask);
  app.post("/forgot-password", passwordReset.send);
  app.get("/reset-password", passwordReset.choose);
  app.post("/reset-password", passwordReset.reset);
  // A reload of a form's answer as a page leads back to the form.
  app.get("/sign-up/resend", (_request, response) => response.redirect(303, "/sign-up"));
  if (mailbox) app.get("/mailbox", mailbox);
}
