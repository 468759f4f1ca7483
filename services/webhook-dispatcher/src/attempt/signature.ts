import { createHmac } from "node:crypto";
import type { Signatures } from "../model/delivery.ts";

/** The secrets that sign now, the current one first; two during a rotation. */
export type SigningSecrets = readonly string[];

/**
 * Signs an attempt: X-Service-Signature (`t=<unix seconds>,v1=<hex>` over `<t>.<body>`, keyed by the whole secret string, as
 * Stripe's libraries verify it) and webhook-signature of Standard Webhooks 1.0.0 (over `<id>.<timestamp>.<body>`, keyed by
 * the secret's decoded bytes). Each has one signature per secret.
 */
export function signaturesOf(options: {
  secrets: SigningSecrets;
  eventId: string;
  sentAt: Date;
  body: string;
}): Signatures {
  const { secrets, eventId, sentAt, body } = options;
  const timestamp = webhookTimestamp(sentAt);
  const service = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.${body}`, "hex")}`);
  const standard = secrets.map((secret) => `v1,${hmac(decoded(secret), `${eventId}.${timestamp}.${body}`, "base64")}`);
  return { service: [`t=${timestamp}`, ...service].join(","), standard: standard.join(" ") };
}

/** Returns the value of the header webhook-timestamp: unix seconds. */
export function webhookTimestamp(sentAt: Date): string {
  return String(Math.floor(sentAt.getTime() / 1000));
}

function decoded(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function hmac(key: string | Buffer, text: string, encoding: "hex" | "base64"): string {
  return createHmac("sha256", key).update(text, "utf8").digest(encoding);
}
