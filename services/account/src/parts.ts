import type { MongoClient } from "mongodb";
import type { AuditLog } from "./audit/audit.ts";
import type { MailQueue } from "./mail/queue.ts";
import type { MailTexts } from "./mail/texts.ts";
import type { AccountStore } from "./store.ts";

/** What most parts of the domain need. */
export interface Basics {
  readonly client: MongoClient;
  readonly store: AccountStore;
  readonly audit: AuditLog;
  readonly now: () => Date;
}

/** What the parts that send emails need as well. */
export interface Mails {
  readonly mailQueue: MailQueue;
  readonly texts: MailTexts;
}
