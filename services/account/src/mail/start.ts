import type { Logger } from "@vvs/logging";
import type { AccountConfig } from "../config.ts";
import type { AccountStore } from "../store.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import { createMailer, runMailer } from "./mailer.ts";
import { createMailMetrics } from "./metrics.ts";
import { createMailTransport } from "./transport.ts";

export interface Mailing {
  /** Are mails sent, or at least kept for somebody to read? */
  readonly isConfigured: boolean;
  /** Of a local run alone. */
  readonly mailbox: Mailbox | undefined;
  /** Lets the mails finish that are under way. */
  close(): Promise<void>;
}

/** Begins to send what the queue holds, by the way that the configuration names. Errors: a certificate file that can't be read. */
export function startMailing(options: {
  config: Pick<
    AccountConfig,
    "SMTP_URL" | "SMTP_TLS" | "SMTP_TLS_CA_PATH" | "MAIL_FROM" | "LOCAL_MAILBOX" | "WEBHOOK_SECRET_KEYS"
  >;
  store: AccountStore;
  logger: Logger;
  now: () => Date;
}): Mailing {
  const { config, store, logger, now } = options;
  const { mails } = store;
  const mailbox = config.LOCAL_MAILBOX ? createMailbox({ mailbox: store.mailbox, now }) : undefined;
  const transport = mailbox ?? createMailTransport({ config, logger });
  const metrics = createMailMetrics(mails);
  const mailer = createMailer({ mails, keys: config.WEBHOOK_SECRET_KEYS, transport, metrics, logger, now });
  const running = runMailer(mailer, logger);
  return {
    isConfigured: mailbox !== undefined || config.SMTP_URL !== undefined,
    mailbox,
    async close() {
      await running.stop();
      metrics.close();
    },
  };
}
