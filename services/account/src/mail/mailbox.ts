import type { Collection } from "mongodb";
import type { Mail, MailTransport } from "./mail.ts";

/** An email of a local run, kept so that the developer can read it. */
export interface MailboxDocument extends Mail {
  /** mail_…. */
  readonly _id: string;
  readonly received_at: Date;
}

export interface Mailbox extends MailTransport {
  /** Returns the latest 100 emails, newest first. */
  list(): Promise<MailboxDocument[]>;
}

const MAX_LISTED = 100;

/** Stores emails in a collection instead of sending them. Anyone who opens the mailbox page of a local run can read them all. */
export function createMailbox(options: { mailbox: Collection<MailboxDocument>; now: () => Date }): Mailbox {
  const { mailbox, now } = options;
  return {
    async send(id, mail) {
      await mailbox.replaceOne({ _id: id }, { ...mail, received_at: now() }, { upsert: true });
    },
    list: () => mailbox.find().sort({ received_at: -1, _id: -1 }).limit(MAX_LISTED).toArray(),
  };
}
