import type { Logger } from "@vvs/logging";
import type { AccountConfig } from "../config.ts";
import type { AccountStore } from "../store.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import { createMailer, runMailer } from "./mailer.ts";
import { createMailMetrics } from "./metrics.ts";
import { createMailTransport } from "./transport.ts";

export interface Mailing {
  /** Whether emails are sent, or kept in the mailbox of a local run. */
  readonly isConfigured: boolean;
  /** Only in a local run. */
  readonly mailbox: Mailbox | undefined;
  /** Waits for the attempts in flight. */
  close(): Promise<void>;
}

/** Starts sending queued emails as configured. Errors: a certificate file cannot be read. */
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
  const metrics = createMailMetrics(mails, now);
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
