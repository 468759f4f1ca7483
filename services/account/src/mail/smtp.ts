import nodemailer from "nodemailer";
import { MailRefusedError, type MailTransport } from "../model/mail.ts";

const CONNECT_MS = 10_000;
const IDLE_MS = 30_000;

export interface SmtpOptions {
  /** `smtp://…` starts unencrypted and upgrades with STARTTLS; `smtps://…` uses TLS from the first byte. Can contain user and password. */
  readonly url: URL;
  /** Requires encryption before credentials or emails are sent. Turn it off only for a relay on a trusted network. */
  readonly requireTls: boolean;
  /** Sender of the emails: an address, or a name and an address. */
  readonly from: string;
  /** Additional certificate authorities to trust, as PEM. */
  readonly ca?: string | undefined;
  /** Maximum silence of the server in milliseconds, before the connection is closed. */
  readonly idleMs?: number;
}

/** Creates a transport that sends emails by SMTP. */
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
    async send(id, { to, subject, text, html, unsubscribeUrl }) {
      const message = {
        from,
        // As an object, so that a comma in it does not start a second address.
        to: { name: "", address: to },
        subject,
        text,
        ...(html !== undefined && { html }),
        messageId: `<${id}@${domain}>`,
        headers: {
          "Auto-Submitted": "auto-generated",
          ...(unsubscribeUrl !== undefined && {
            "List-Unsubscribe": `<${unsubscribeUrl}>`,
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
          }),
        },
      };
      await transport.sendMail(message).catch((error: SmtpError) => {
        throw isFinal(error) ? new MailRefusedError(reasonOf(error)) : new Error(reasonOf(error));
      });
    },
  };
}

type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/** Only a 5xx for the recipient or the email itself is final. An earlier one (sign-in, sender) is caused by our configuration, which can be fixed. */
function isFinal({ command, responseCode }: SmtpError): boolean {
  return (command === "RCPT TO" || command === "DATA") && responseCode !== undefined && responseCode >= 500;
}

/** Describes an error without the server's text, which can contain the address or parts of the email. */
function reasonOf({ code, command, responseCode }: SmtpError): string {
  return ["SMTP", code, command, responseCode].filter((part) => part !== undefined).join(" ");
}
