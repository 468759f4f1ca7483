import type { Express } from "express";
import type { PageContext } from "../page/page-context.ts";
import { createInvitation } from "./invitation.ts";
import { createMailbox } from "./mailbox.ts";
import { createPasskeySignIn } from "./passkey-sign-in.ts";
import { createPasswordReset } from "./password-reset.ts";
import { createShowSignIn, createSignIn } from "./sign-in.ts";
import { createSignUp } from "./sign-up.ts";
import { createSingleSignOnHandlers } from "./single-sign-on.ts";

/** Adds the pages for people who are not signed in. */
export function addEntryRoutes(app: Express, context: PageContext): void {
  const showSignIn = createShowSignIn(context);
  const signIn = createSignIn(context, showSignIn);
  const passkey = createPasskeySignIn(context, showSignIn);
  const singleSignOn = createSingleSignOnHandlers(context);
  const signUp = createSignUp(context);
  const passwordReset = createPasswordReset(context);
  const invitation = createInvitation(context);
  app.get("/sign-in", signIn.show);
  app.post("/sign-in", signIn.signIn);
  app.get("/sign-in/code", signIn.askForCode);
  app.post("/sign-in/code", signIn.finish);
  app.get("/sign-in/sso", singleSignOn.ask);
  app.post("/sign-in/sso", singleSignOn.find);
  app.get("/sign-in/sso/:provider_id", singleSignOn.begin);
  app.get("/sign-in/sso/:provider_id/callback", singleSignOn.finish);
  app.get("/sign-in/passkey", passkey.ask);
  app.post("/sign-in/passkey", passkey.signIn);
  app.post("/sign-out", signIn.signOut);
  app.get("/sign-up", signUp.show);
  app.post("/sign-up", signUp.signUp);
  // Opening the address of a form's answer leads back to the form.
  app.get("/sign-up/resend", (_request, response) => response.redirect(303, "/sign-up"));
  app.post("/sign-up/resend", signUp.resend);
  app.get("/sign-up/confirm", signUp.askForPassword);
  app.post("/sign-up/confirm", signUp.confirm);
  app.get("/forgot-password", passwordReset.ask);
  app.post("/forgot-password", passwordReset.send);
  app.get("/reset-password", passwordReset.choose);
  app.post("/reset-password", passwordReset.reset);
  app.get("/invitation", invitation.show);
  app.post("/invitation", invitation.submit);
  if (context.localMailbox) app.get("/mailbox", createMailbox(context));
}
