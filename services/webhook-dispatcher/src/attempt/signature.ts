import { createHmac } from "node:crypto";

/** The secrets that sign now, the current one first; two during a rotation. */
export type SigningSecrets = readonly string[];

/**
 * Returns the headers that sign an attempt: X-Service-Signature (`t=<unix seconds>,v1=<hex>` over `<t>.<body>`, keyed by
 * the whole secret string, as Stripe's libraries verify it) and the three of Standard Webhooks 1.0.0 (over
 * `<id>.<timestamp>.<body>`, keyed by the secret's decoded bytes). One signature per secret.
 */
export function signatureHeaders(options: {
  secrets: SigningSecrets;
  eventId: string;
  sentAt: Date;
  body: string;
}): Record<string, string> {
  const { secrets, eventId, body } = options;
  const timestamp = String(Math.floor(options.sentAt.getTime() / 1000));
  const service = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.${body}`).toString("hex")}`);
  const standard = secrets.map(
    (secret) => `v1,${hmac(decoded(secret), `${eventId}.${timestamp}.${body}`).toString("base64")}`,
  );
  return {
    "X-Service-Signature": [`t=${timestamp}`, ...service].join(","),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}

function decoded(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}
