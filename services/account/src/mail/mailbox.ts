import type { Collection } from "mongodb";
import type { Mail, MailTransport } from "./mail.ts";

/** A mail of a local run, for whoever runs it to read. */
export interface MailboxDocument extends Mail {
  /** mail_…. */
  readonly _id: string;
  readonly received_at: Date;
}

export interface Mailbox extends MailTransport {
  /** The newest first. */
  list(): Promise<MailboxDocument[]>;
}

const MAX_LISTED = 100;

/** Takes mails into a collection in place of a server: anybody who opens the page of a local run reads all of them. */
export function createMailbox(options: { mailbox: Collection<MailboxDocument>; now: () => Date }): Mailbox {
  const { mailbox, now } = options;
  return {
    async send(id, mail) {
      await mailbox.replaceOne({ _id: id }, { ...mail, received_at: now() }, { upsert: true });
    },
    list: () => mailbox.find().sort({ received_at: -1, _id: -1 }).limit(MAX_LISTED).toArray(),
  };
}
