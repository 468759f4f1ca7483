/** What a mail is about; said in logs and metrics in place of its content. */
export type MailKind =
  | "sign_up"
  | "sign_up_again"
  | "password_reset"
  | "invitation"
  | "password_changed"
  | "authenticator_enabled"
  | "authenticator_disabled";

/** A mail to one person, in plain text. */
export interface Mail {
  readonly kind: MailKind;
  /** One address, as `normalizedEmail` leaves it. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Takes mails away, one at a time. */
export interface MailTransport {
  /**
   * Hands a mail on. `id` is the same at each attempt, so that a receiver can tell a repetition.
   * Errors: MailRefusedError where trying again is of no use; anything else is worth another attempt.
   */
  send(id: string, mail: Mail): Promise<void>;
}

/** The mail will not be taken, however often it is tried. */
export class MailRefusedError extends Error {}
