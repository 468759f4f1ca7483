import { readFileSync } from "node:fs";
import type { Logger } from "@vvs/logging";
import type { AccountConfig } from "../config.ts";
import { MailRefusedError, type MailTransport } from "./mail.ts";
import { createSmtpTransport } from "./smtp.ts";

/** Returns a transport to the configured SMTP server, or one that rejects every email. Errors: a certificate file cannot be read. */
export function createMailTransport(options: {
  config: Pick<AccountConfig, "SMTP_URL" | "SMTP_TLS" | "SMTP_TLS_CA_PATH" | "MAIL_FROM">;
  logger: Logger;
}): MailTransport {
  const { config, logger } = options;
  if (config.SMTP_URL) {
    return createSmtpTransport({
      url: config.SMTP_URL,
      requireTls: config.SMTP_TLS === "required",
      from: config.MAIL_FROM!,
      ca: config.SMTP_TLS_CA_PATH && readFileSync(config.SMTP_TLS_CA_PATH, "utf8"),
    });
  }
  logger.warn("SMTP_URL is not set: no emails are sent");
  return {
    async send() {
      throw new MailRefusedError("no SMTP server is configured");
    },
  };
}
