import type { SecretKey } from "@vvs/config";
import { newId } from "@vvs/ids";
import { open, type Place, seal } from "@vvs/sealing";
import type { ClientSession, Collection } from "mongodb";
import type { Mail, MailDocument } from "../model/mail.ts";
import type { MailTexts } from "./texts.ts";

export type MailQueue = ReturnType<typeof createMailQueue>;

export function createMailQueue(options: {
  mails: Collection<MailDocument>;
  /** Keys that encrypt queued emails, newest first. */
  keys: readonly SecretKey[];
  now: () => Date;
}) {
  return {
    /**
     * Queues an email in the transaction of its cause. If the transaction commits, any replica sends the email at least
     * once; attempts continue for up to a day.
     */
    async enqueue(session: ClientSession, { kind, ...content }: Mail): Promise<void> {
      const at = options.now();
      const _id = newId("mail", at);
      const sealed = seal(options.keys, mailPlace({ _id }), JSON.stringify(content));
      // Emails are sent in this order, and people wait for all but notifications, of which thousands may be due together.
      const next_attempt_at = kind === "notification" ? at : new Date(0);
      const mail = { _id, kind, content: { sealed }, created_at: at, next_attempt_at, attempts: 0 };
      await options.mails.insertOne(mail, { session });
    },
  };
}

/** What was enqueued. Errors: its key is gone from the ring. */
export function mailOf(keys: readonly SecretKey[], mail: MailDocument): Mail {
  const content = open(keys, mailPlace(mail), mail.content.sealed);
  return { kind: mail.kind, ...(JSON.parse(content) as Omit<Mail, "kind">) };
}

/** A mail belongs to an address, which may be nobody's yet, and so to no organization. */
export function mailPlace({ _id }: Pick<MailDocument, "_id">): Place {
  return ["", "", "mails", _id, "content"];
}

/** What the parts that send emails need as well. */
export interface Mails {
  readonly mailQueue: MailQueue;
  readonly texts: MailTexts;
}
