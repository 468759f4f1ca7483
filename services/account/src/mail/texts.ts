import { exactTime } from "@vvs/registration";
import type { Mail, MailKind } from "../model/mail.ts";

/** Where to send an email, and where and when the request for it came from, so that readers can tell whether it was them. */
interface EmailRequest {
  readonly to: string;
  readonly clientAddress?: string;
  readonly at: Date;
}

/** Something that was added or changed. */
export interface Change {
  readonly subject: string;
  /** What was done, as the end of a sentence without its period. Contains nothing that anybody typed. */
  readonly what: string;
}

export type MailTexts = ReturnType<typeof createMailTexts>;

/** The emails to users, in plain text. Links lead to the public URL of the dashboard. */
export function createMailTexts(options: { dashboardUrl: URL }) {
  const url = (path: string, token?: string) => {
    const target = new URL(path, options.dashboardUrl);
    if (token !== undefined) target.searchParams.set("token", token);
    return target.href;
  };
  const forgotten = url("/forgot-password");

  return {
    /** Asks a new user to confirm their address. Contains nothing that they typed: otherwise anyone could send text of their choice to any address. */
    signUp: (request: EmailRequest, { token }: { token: string }) =>
      mail("sign_up", request, "Confirm your email address", [
        "Someone signed up for Vendor Verification with this address. If it was you, open this link and enter the password you chose:",
        url("/sign-up/confirm", token),
        "The link works once, within 24 hours. If it was not you, ignore this email: no account will be created.",
      ]),

    /** Answers a sign-up with an address that already has an account. */
    signUpAgain: (request: EmailRequest) =>
      mail("sign_up_again", request, "You already have an account", [
        "Someone tried to sign up for Vendor Verification with this address. It already has an account, so nothing was created or changed. Sign in here:",
        url("/sign-in"),
        "If you forgot your password, choose a new one here:",
        forgotten,
        "If it was not you, ignore this email.",
      ]),

    /** Invites a person. The organization's name is only on the page behind the link, because anyone can choose any name. */
    invitation: (request: EmailRequest, { token, invitedBy }: { token: string; invitedBy: string }) =>
      mail("invitation", request, "You have been invited to Vendor Verification", [
        `${invitedBy} has invited you to join their organization on Vendor Verification. To see the invitation and choose a password, open this link:`,
        url("/invitation", token),
        "The link works once, within 7 days. If you do not know the sender, ignore this email.",
      ]),

    /** Sends a link that sets a new password. */
    passwordReset: (request: EmailRequest, { token }: { token: string }) =>
      mail("password_reset", request, "Choose a new password", [
        "Someone asked to reset the password of your Vendor Verification account. If it was you, open this link to choose a new password:",
        url("/reset-password", token),
        "The link works once, within one hour. If it was not you, ignore this email: your password has not changed.",
      ]),

    passwordChanged: (request: EmailRequest, { passkeysRemoved = false } = {}) =>
      mail("password_changed", request, "Your password was changed", [
        `The password of your Vendor Verification account was changed, and all earlier sessions were ended.${passkeysRemoved ? " All of its passkeys were removed." : ""}`,
        "If it was not you, contact an owner of your organization and choose a new password immediately:",
        forgotten,
      ]),

    authenticatorEnabled: (request: EmailRequest) =>
      mail("authenticator_enabled", request, "Two-factor sign-in was turned on", [
        "From now on, signing in to Vendor Verification with this address also requires a code from an authenticator app.",
        "If it was not you, someone else has access to your account. Contact an owner of your organization and choose a new password immediately:",
        forgotten,
      ]),

    authenticatorDisabled: (request: EmailRequest) =>
      mail("authenticator_disabled", request, "Two-factor sign-in was turned off", [
        "From now on, signing in to Vendor Verification with this address requires only the password.",
        "If it was not you, turn two-factor sign-in on again and change your password:",
        url("/test/security"),
      ]),

    /** The email to an owner, or to the member who did it, about a change in their organization. */
    organizationChanged: (
      request: EmailRequest,
      { subject, actor, what, isLast }: Change & { actor: string; isLast: boolean },
    ) =>
      mail("organization_changed", request, subject, [
        `${actor} ${what}.`,
        ...lastOfHour(isLast),
        "If you did not expect this, sign in to the dashboard as usual: the audit log of your organization shows who did what. Ask the person whom it names. If they did not do it, tell an owner of your organization, revoke API keys that nobody needs, and rotate webhook secrets that someone may know.",
      ]),

    /** The email to a user about a change in their own account. */
    accountChanged: (request: EmailRequest, { subject, what, isLast }: Change & { isLast: boolean }) =>
      mail("account_changed", request, subject, [
        `Someone who was signed in to your Vendor Verification account ${what}.`,
        ...lastOfHour(isLast),
        "If it was not you, sign in to the dashboard as usual, change your password, and remove the passkeys that are not yours on the page Security. Then tell an owner of your organization.",
      ]),
  };
}

function lastOfHour(isLast: boolean): string[] {
  return isLast ? ["There were many such changes within an hour, so there is no email about the next ones."] : [];
}

function mail(kind: MailKind, request: EmailRequest, subject: string, paragraphs: readonly string[]): Mail {
  return { kind, to: request.to, subject, text: `${[...paragraphs, originOf(request)].join("\n\n")}\n` };
}

function originOf({ clientAddress, at }: EmailRequest): string {
  const moment = exactTime(at, "minute");
  return clientAddress
    ? `The request came from the IP address ${clientAddress} at ${moment}.`
    : `The request was made at ${moment}.`;
}
