import { readFileSync } from "node:fs";
import type { Logger } from "@vvs/logging";
import type { AccountConfig } from "../config.ts";
import { MailRefusedError, type MailTransport } from "./mail.ts";
import { createSmtpTransport } from "./smtp.ts";

/** The server that the configuration names, or one that takes nothing. Errors: a certificate file that can't be read. */
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
  logger.warn("no SMTP_URL is set: nobody is sent a mail");
  return {
    async send() {
      throw new MailRefusedError("no SMTP server is configured");
    },
  };
}
