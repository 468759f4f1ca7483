import type { Collection } from "mongodb";
import type { Mail, MailboxDocument } from "../model/mail.ts";

export type Mailbox = ReturnType<typeof createMailbox>;

const MAX_LISTED = 100;

/** Stores emails in a collection instead of sending them. Anyone who opens the mailbox page of a local run can read them all. */
export function createMailbox({ mailbox, now }: { mailbox: Collection<MailboxDocument>; now: () => Date }) {
  return {
    async send(id: string, { kind, to, subject, text }: Mail): Promise<void> {
      await mailbox.replaceOne({ _id: id }, { kind, to, subject, text, received_at: now() }, { upsert: true });
    },

    /** Returns the latest 100 emails, newest first. */
    list: () => mailbox.find().sort({ received_at: -1, _id: -1 }).limit(MAX_LISTED).toArray(),
  };
}
