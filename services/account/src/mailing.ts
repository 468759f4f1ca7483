import { readFileSync } from "node:fs";
import type { Logger } from "@vvs/logging";
import type { AccountConfig } from "./config.ts";
import { createMailbox } from "./mail/mailbox.ts";
import { createMailer, runMailer } from "./mail/mailer.ts";
import { createMailMetrics } from "./mail/metrics.ts";
import { createSmtpTransport } from "./mail/smtp.ts";
import { MailRefusedError, type MailTransport } from "./model/mail.ts";
import type { AccountStore } from "./store.ts";

export type Mailing = ReturnType<typeof startMailing>;
type MailConfig = Pick<
  AccountConfig,
  "SMTP_URL" | "SMTP_TLS" | "SMTP_TLS_CA_PATH" | "MAIL_FROM" | "LOCAL_MAILBOX" | "WEBHOOK_SECRET_KEYS"
>;

/** Starts sending queued emails as configured. Errors: a certificate file cannot be read. */
export function startMailing(options: { config: MailConfig; store: AccountStore; logger: Logger; now: () => Date }) {
  const { config, store, logger, now } = options;
  const { mails } = store;
  const mailbox = config.LOCAL_MAILBOX ? createMailbox({ mailbox: store.mailbox, now }) : undefined;
  const transport = mailbox ?? transportOf(config, logger);
  const metrics = createMailMetrics(mails, now);
  const mailer = createMailer({ mails, keys: config.WEBHOOK_SECRET_KEYS, transport, metrics, logger, now });
  const running = runMailer(mailer, logger);
  return {
    /** Whether emails are sent, or kept in the mailbox of a local run. */
    isConfigured: mailbox !== undefined || config.SMTP_URL !== undefined,
    /** Only in a local run. */
    mailbox,
    /** Waits for the attempts in flight. */
    async close(): Promise<void> {
      await running.stop();
      metrics.close();
    },
  };
}

/** Returns a transport to the configured SMTP server, or one that rejects every email. */
function transportOf(config: MailConfig, logger: Logger): MailTransport {
  if (config.SMTP_URL) {
    return createSmtpTransport({
      url: config.SMTP_URL,
      requireTls: config.SMTP_TLS === "required",
      from: config.MAIL_FROM!,
      ca: config.SMTP_TLS_CA_PATH && readFileSync(config.SMTP_TLS_CA_PATH, "utf8"),
    });
  }
  logger.warn("SMTP_URL is not set: no emails are sent");
  return { send: () => Promise.reject(new MailRefusedError("no SMTP server is configured")) };
}
