import type { Mail } from "./mail.ts";

/** Where to send an email, and where and when the request for it came from, so that readers can tell whether it was them. */
interface EmailRequest {
  readonly to: string;
  readonly clientAddress: string;
  readonly at: Date;
}

/** The emails to users, in plain text. Links lead to the public URL of the dashboard. */
export interface MailTexts {
  /** Asks a new user to confirm their address. Contains nothing that they typed: otherwise anyone could send text of their choice to any address. */
  signUp(request: EmailRequest, input: { token: string }): Mail;
  /** Answers a sign-up with an address that already has an account. */
  signUpAgain(request: EmailRequest): Mail;
  /** Invites a person. The organization's name is only on the page behind the link, because anyone can choose any name. */
  invitation(request: Omit<EmailRequest, "clientAddress">, input: { token: string; invitedBy: string }): Mail;
  /** Sends a link that sets a new password. */
  passwordReset(request: EmailRequest, input: { token: string }): Mail;
  passwordChanged(request: Omit<EmailRequest, "clientAddress"> & { clientAddress?: string }): Mail;
  authenticatorEnabled(request: EmailRequest): Mail;
  authenticatorDisabled(request: EmailRequest): Mail;
}

export function createMailTexts(options: { dashboardUrl: URL }): MailTexts {
  const url = (path: string, token?: string) => {
    const target = new URL(path, options.dashboardUrl);
    if (token !== undefined) target.searchParams.set("token", token);
    return target.href;
  };
  const forgotten = url("/forgot-password");
  const security = url("/test/security");

  return {
    signUp: (request, { token }) => ({
      kind: "sign_up",
      to: request.to,
      subject: "Confirm your email address",
      text: paragraphs(
        "Someone signed up for Vendor Verification with this address. If it was you, open this link and enter the password you chose:",
        url("/sign-up/confirm", token),
        "The link works once, within 24 hours. If it was not you, ignore this email: no account will be created.",
        origin(request),
      ),
    }),

    signUpAgain: (request) => ({
      kind: "sign_up_again",
      to: request.to,
      subject: "You already have an account",
      text: paragraphs(
        "Someone tried to sign up for Vendor Verification with this address. It already has an account, so nothing was created or changed. Sign in here:",
        url("/sign-in"),
        "If you forgot your password, choose a new one here:",
        forgotten,
        "If it was not you, ignore this email.",
        origin(request),
      ),
    }),

    invitation: (request, { token, invitedBy }) => ({
      kind: "invitation",
      to: request.to,
      subject: "You have been invited to Vendor Verification",
      text: paragraphs(
        `${invitedBy} has invited you to join their organization on Vendor Verification. To see the invitation and choose a password, open this link:`,
        url("/invitation", token),
        "The link works once, within 7 days. If you do not know the sender, ignore this email.",
        origin(request),
      ),
    }),

    passwordReset: (request, { token }) => ({
      kind: "password_reset",
      to: request.to,
      subject: "Choose a new password",
      text: paragraphs(
        "Someone asked to reset the password of your Vendor Verification account. If it was you, open this link to choose a new password:",
        url("/reset-password", token),
        "The link works once, within one hour. If it was not you, ignore this email: your password has not changed.",
        origin(request),
      ),
    }),

    passwordChanged: (request) => ({
      kind: "password_changed",
      to: request.to,
      subject: "Your password was changed",
      text: paragraphs(
        "The password of your Vendor Verification account was changed, and all earlier sessions were ended.",
        "If it was not you, contact an owner of your organization and choose a new password immediately:",
        forgotten,
        origin(request),
      ),
    }),

    authenticatorEnabled: (request) => ({
      kind: "authenticator_enabled",
      to: request.to,
      subject: "Two-factor sign-in was turned on",
      text: paragraphs(
        "From now on, signing in to Vendor Verification with this address also requires a code from an authenticator app.",
        "If it was not you, someone else has access to your account. Contact an owner of your organization and choose a new password immediately:",
        forgotten,
        origin(request),
      ),
    }),

    authenticatorDisabled: (request) => ({
      kind: "authenticator_disabled",
      to: request.to,
      subject: "Two-factor sign-in was turned off",
      text: paragraphs(
        "From now on, signing in to Vendor Verification with this address requires only the password.",
        "If it was not you, turn two-factor sign-in on again and change your password:",
        security,
        origin(request),
      ),
    }),
  };
}

function paragraphs(...texts: (string | undefined)[]): string {
  return `${texts.filter((text) => text !== undefined).join("\n\n")}\n`;
}

function origin({ clientAddress, at }: { clientAddress?: string | undefined; at: Date }): string {
  const moment = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return clientAddress
    ? `The request came from the IP address ${clientAddress} at ${moment}.`
    : `The request was made at ${moment}.`;
}
