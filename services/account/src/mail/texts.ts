import type { Mail } from "./mail.ts";

/** Who wants what a mail is about; people judge by it whether it was them. */
interface Asked {
  readonly to: string;
  readonly clientAddress: string;
  readonly at: Date;
}

/** The mails to users, as text. Links lead to the dashboard as browsers see it. */
export interface MailTexts {
  /** To who signs up. Nothing that they typed is in it, or strangers could have us mail what they like to whom they like. */
  signUp(asked: Asked, input: { token: string }): Mail;
  /** To who has an account, and signs up again. */
  signUpAgain(asked: Asked): Mail;
  /** To who is invited. The organization's name is on the page that the link leads to: anybody may choose one. */
  invitation(asked: Omit<Asked, "clientAddress">, input: { token: string; invitedBy: string }): Mail;
  /** To who forgot their password. */
  passwordReset(asked: Asked, input: { token: string }): Mail;
  passwordChanged(asked: Omit<Asked, "clientAddress"> & { clientAddress?: string }): Mail;
  authenticatorEnabled(asked: Asked): Mail;
  authenticatorDisabled(asked: Asked): Mail;
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
    signUp: (asked, { token }) => ({
      kind: "sign_up",
      to: asked.to,
      subject: "Confirm your e-mail address",
      text: paragraphs(
        "Somebody signed up with this address for Vendor Verification. To confirm that it was you, open this link and enter the password that you chose:",
        url("/sign-up/confirm", token),
        "The link is good for 24 hours, and for one use. If it was not you, do nothing: there will be no account.",
        origin(asked),
      ),
    }),

    signUpAgain: (asked) => ({
      kind: "sign_up_again",
      to: asked.to,
      subject: "You have an account already",
      text: paragraphs(
        "Somebody signed up with this address for Vendor Verification. It has an account already, so nothing was created or changed. Sign in here:",
        url("/sign-in"),
        "If you do not know your password any more, choose a new one:",
        forgotten,
        "If it was not you, do nothing.",
        origin(asked),
      ),
    }),

    invitation: (asked, { token, invitedBy }) => ({
      kind: "invitation",
      to: asked.to,
      subject: "You are invited to Vendor Verification",
      text: paragraphs(
        `${invitedBy} invites you to join their organization on Vendor Verification. To see what it is, and to choose a password, open this link:`,
        url("/invitation", token),
        "The link is good for 7 days, and for one use. If you do not know them, do nothing.",
        origin(asked),
      ),
    }),

    passwordReset: (asked, { token }) => ({
      kind: "password_reset",
      to: asked.to,
      subject: "Choose a new password",
      text: paragraphs(
        "Somebody wants to choose a new password for your account of Vendor Verification. If it was you, open this link:",
        url("/reset-password", token),
        "The link is good for one hour, and for one use. If it was not you, do nothing: your password stays as it is.",
        origin(asked),
      ),
    }),

    passwordChanged: (asked) => ({
      kind: "password_changed",
      to: asked.to,
      subject: "Your password was changed",
      text: paragraphs(
        "The password of your account of Vendor Verification was changed, and all sessions that were under way have ended.",
        "If it was not you, choose a new password at once, and tell an owner of your organization:",
        forgotten,
        origin(asked),
      ),
    }),

    authenticatorEnabled: (asked) => ({
      kind: "authenticator_enabled",
      to: asked.to,
      subject: "Two-factor sign-in was turned on",
      text: paragraphs(
        "From now on, signing in to Vendor Verification with this address takes a code of an authenticator app too.",
        "If it was not you, somebody else can use your account: choose a new password at once, and tell an owner of your organization:",
        forgotten,
        origin(asked),
      ),
    }),

    authenticatorDisabled: (asked) => ({
      kind: "authenticator_disabled",
      to: asked.to,
      subject: "Two-factor sign-in was turned off",
      text: paragraphs(
        "From now on, the password alone is enough to sign in to Vendor Verification with this address.",
        "If it was not you, turn it on again, and change your password:",
        security,
        origin(asked),
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
    ? `This came from the network address ${clientAddress}, at ${moment}.`
    : `This was at ${moment}.`;
}
