import nodemailer from "nodemailer";
import { MailRefusedError, type MailTransport } from "./mail.ts";

const CONNECT_MS = 10_000;
const IDLE_MS = 30_000;

export interface SmtpOptions {
  /** `smtp://…` speaks in clear until STARTTLS, `smtps://…` TLS from the first byte; with user and password where asked for. */
  readonly url: URL;
  /** Before anything is said the connection must be encrypted; off for a relay on a network that is trusted. */
  readonly requireTls: boolean;
  /** Whom mails are from: an address, or a name and an address. */
  readonly from: string;
  /** Further authorities to trust, as PEM. */
  readonly ca?: string | undefined;
  /** How long a server may say nothing. */
  readonly idleMs?: number;
}

/** Sends by SMTP. */
export function createSmtpTransport({ url, requireTls, from, ca, idleMs = IDLE_MS }: SmtpOptions): MailTransport {
  const secure = url.protocol === "smtps:";
  const transport = nodemailer.createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: requireTls,
    ...(url.username && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...(ca && { tls: { ca } }),
    connectionTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    greetingTimeout: idleMs,
    socketTimeout: idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
  return {
    async send(id, { to, subject, text }) {
      const message = {
        from,
        // As an object: nothing in it is taken for a second address.
        to: { name: "", address: to },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        headers: { "Auto-Submitted": "auto-generated" },
      };
      await transport.sendMail(message).catch((error: SmtpError) => {
        throw isFinal(error) ? new MailRefusedError(reasonOf(error)) : new Error(reasonOf(error));
      });
    },
  };
}

type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/** A 5xx to the recipient or to the mail itself; before that (sign-in, sender) it is our configuration, which may be mended. */
function isFinal({ command, responseCode }: SmtpError): boolean {
  return (command === "RCPT TO" || command === "DATA") && responseCode !== undefined && responseCode >= 500;
}

/** Without the server's words: they repeat the address, and sometimes the mail. */
function reasonOf({ code, command, responseCode }: SmtpError): string {
  return ["SMTP", code, command, responseCode].filter((part) => part !== undefined).join(" ");
}
