/** The purpose of an email. Logs and metrics contain it instead of the content. */
export type MailKind =
  | "sign_up"
  | "sign_up_again"
  | "password_reset"
  | "invitation"
  | "password_changed"
  | "authenticator_enabled"
  | "authenticator_disabled"
  | "organization_changed"
  | "account_changed";

/** An email to one person, in plain text. */
export interface Mail {
  readonly kind: MailKind;
  /** One address, normalized by `normalizedEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Delivers emails, for example to an SMTP server. */
export interface MailTransport {
  /**
   * Sends an email. `id` is the same at each attempt, so that receivers can recognize duplicates.
   * Errors: MailRefusedError if a retry cannot succeed; after any other error the email is sent again later.
   */
  send(id: string, mail: Mail): Promise<void>;
}

/** The email was rejected for good: a retry cannot succeed. */
export class MailRefusedError extends Error {}
