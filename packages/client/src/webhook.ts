import type { MonitorChangeDetected } from "./types.ts";

/** Headers of a request, as fetch or Node has them. Names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook that was signed with one of the secrets. */
export interface VerifiedWebhook {
  /**
   * The event's id, the same on every attempt: remember it to handle an event once. Undefined without a
   * `webhook-signature`, because `X-Service-Signature` does not protect the id.
   */
  readonly id: string | undefined;
  readonly payload: MonitorChangeDetected;
}

/** The request was not signed with one of the secrets, or is too old. Answer 400 and do nothing else with it. */
export class WebhookVerificationError extends Error {
  /** What is wrong: a header is missing or malformed, the timestamp is out of tolerance, no signature fits, no JSON. */
  readonly reason: "headers" | "timestamp" | "signature" | "body";

  constructor(reason: WebhookVerificationError["reason"], message: string) {
    super(message);
    this.name = "WebhookVerificationError";
    this.reason = reason;
  }
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

/** What a request claims to be signed with. */
interface Claim {
  readonly id: string | undefined;
  /** Unix seconds. */
  readonly timestamp: string;
  /** What was signed before the body. */
  readonly prefix: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
  keyOf(secret: string): Uint8Array<ArrayBuffer>;
}

/**
 * Returns the event of a webhook that was signed with one of the secrets, checking `webhook-signature`, or
 * `X-Service-Signature` in its absence, in constant time. `body` is the body as received, not parsed JSON. Several
 * secrets can be given, for a rotation without a gap. `toleranceSeconds` is the greatest difference accepted between the
 * time of signing and `now`. Errors: WebhookVerificationError; TypeError for an unusable body or secret.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: { toleranceSeconds?: number | undefined; now?: (() => Date) | undefined } = {},
): Promise<VerifiedWebhook> {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = () => new Date() } = options;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body must be the bytes or the text as received, not parsed JSON");
  }
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError("secrets must contain at least one secret");
  const claim = standardClaim(headers) ?? serviceClaim(headers);
  if (!claim) throw new WebhookVerificationError("headers", "The request has no signature.");
  const ageSeconds = now().getTime() / 1_000 - Number(claim.timestamp);
  if (Math.abs(ageSeconds) > toleranceSeconds) {
    throw new WebhookVerificationError("timestamp", "The request was signed too long ago, or in the future.");
  }
  const text = typeof body === "string" ? encoder.encode(body) : body;
  const signed = joined(encoder.encode(claim.prefix), text);
  if (!(await isSigned(signed, claim, list))) {
    throw new WebhookVerificationError("signature", "No signature of the request fits a secret.");
  }
  try {
    return { id: claim.id, payload: JSON.parse(new TextDecoder().decode(text)) };
  } catch {
    throw new WebhookVerificationError("body", "The body is not JSON.");
  }
}

/** Returns the headers with which the service would sign a body, to test a receiver. Errors: TypeError for an unusable secret. */
export async function signWebhook(
  body: string,
  options: { id: string; secrets: string | readonly string[]; sentAt?: Date | undefined },
): Promise<Record<string, string>> {
  const { id, secrets, sentAt = new Date() } = options;
  const list = typeof secrets === "string" ? [secrets] : secrets;
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const sign = async (keyBytes: Uint8Array<ArrayBuffer>, text: string) =>
    new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(keyBytes, "sign"), encoder.encode(text)));
  const standard: string[] = [];
  const service: string[] = [];
  for (const secret of list) {
    standard.push(`v1,${toBase64(await sign(decodedKey(secret), `${id}.${timestamp}.${body}`))}`);
    service.push(`v1=${toHex(await sign(wholeKey(secret), `${timestamp}.${body}`))}`);
  }
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
    "X-Service-Signature": [`t=${timestamp}`, ...service].join(","),
  };
}

/** Reads the headers of Standard Webhooks. */
function standardClaim(headers: WebhookHeaders): Claim | undefined {
  const value = header(headers, "webhook-signature");
  if (value === undefined) return undefined;
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  if (!id || !isTimestamp(timestamp)) {
    throw new WebhookVerificationError("headers", "webhook-id or webhook-timestamp is missing or malformed.");
  }
  const signatures = value
    .split(" ")
    .flatMap((part) => (part.startsWith("v1,") ? (fromBase64(part.slice(3)) ?? []) : []));
  return { id, timestamp, prefix: `${id}.${timestamp}.`, signatures, keyOf: decodedKey };
}

/** Reads X-Service-Signature: `t=<Unix seconds>,v1=<hex>[,v1=<hex>]`. */
function serviceClaim(headers: WebhookHeaders): Claim | undefined {
  const value = header(headers, "x-service-signature");
  if (value === undefined) return undefined;
  const parts = value.split(",").map((part) => part.trim().split("=", 2));
  const timestamp = parts.find(([name]) => name === "t")?.[1];
  if (!isTimestamp(timestamp)) throw new WebhookVerificationError("headers", "X-Service-Signature is malformed.");
  const signatures = parts.flatMap(([name, hex]) => (name === "v1" ? (fromHex(hex ?? "") ?? []) : []));
  return { id: undefined, timestamp, prefix: `${timestamp}.`, signatures, keyOf: wholeKey };
}

/** `verify` of Web Crypto compares in constant time. */
async function isSigned(text: Uint8Array<ArrayBuffer>, claim: Claim, secrets: readonly string[]): Promise<boolean> {
  for (const secret of secrets) {
    const key = await hmacKey(claim.keyOf(secret), "verify");
    for (const signature of claim.signatures) {
      if (await crypto.subtle.verify("HMAC", key, signature, text)) return true;
    }
  }
  return false;
}

function hmacKey(bytes: Uint8Array<ArrayBuffer>, use: "sign" | "verify") {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

/** The key of Standard Webhooks: the decoded part of the secret. */
function decodedKey(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : undefined;
  if (!bytes?.length) throw new TypeError("a secret must be whsec_ followed by base64");
  return bytes;
}

/** The key of X-Service-Signature: the secret as text. */
function wholeKey(secret: string): Uint8Array<ArrayBuffer> {
  decodedKey(secret);
  return encoder.encode(secret);
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

function isTimestamp(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}$/.test(text);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g)!, (byte) => Number.parseInt(byte, 16));
}
