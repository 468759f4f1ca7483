import type { Sealed } from "@vvs/sealing";

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
  | "account_changed"
  | "notification";

/** An email to one person. */
export interface Mail {
  readonly kind: MailKind;
  /** One address, normalized by `normalizedEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML; absent for an email in plain text only. */
  readonly html?: string;
  /** Where one POST, without a session, ends such emails to this person (RFC 8058). */
  readonly unsubscribeUrl?: string;
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

/** An email of a local run, kept so that the developer can read it. */
export interface MailboxDocument extends Pick<Mail, "kind" | "to" | "subject" | "text"> {
  /** mail_…. */
  readonly _id: string;
  readonly received_at: Date;
}

/** An email that has not been sent yet. */
export interface MailDocument {
  /** mail_…. */
  readonly _id: string;
  readonly kind: MailKind;
  /** Address, subject and text as JSON, encrypted because a text can contain a link that signs in. */
  readonly content: { readonly sealed: Sealed };
  readonly created_at: Date;
  /** When the next attempt is due, long ago for what goes before notifications; during an attempt, when its lease expires. */
  readonly next_attempt_at: Date;
  /** Number of attempts started. */
  readonly attempts: number;
}
