import { createHash, createHmac, randomBytes } from "node:crypto";

/** RFC 6238 as every authenticator app does it: HMAC-SHA-1, 30 s, six digits. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Codes of the step before and the step after count too: clocks differ, and typing takes time. */
const STEPS_AROUND = 1;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** A new secret: 160 random bits as base32, which apps take. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES)).toUpperCase();
}

/** What an authenticator app opens (Key Uri Format). */
export function totpUri(secret: string, email: string): string {
  const issuer = "Vendor Verification";
  const label = encodeURIComponent(`${issuer}:${email}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** The 30 s that a moment lies in, counted from 1970. */
export function stepOf(at: Date): number {
  return Math.floor(at.getTime() / STEP_MS);
}

/** The code of a step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The step after `lastStep` whose code that is now; undefined where it is none. */
export function matchingStep(
  secret: string,
  typed: string,
  { now, lastStep }: { now: Date; lastStep: number },
): number | undefined {
  const code = typed.replaceAll(/\s/g, "");
  const current = stepOf(now);
  for (let step = current - STEPS_AROUND; step <= current + STEPS_AROUND; step++) {
    if (step > lastStep && totpCode(secret, step) === code) return step;
  }
  return undefined;
}

/** Codes for whoever loses the app: 80 random bits each, in four groups. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_BYTES)).replaceAll(/(.{4})(?=.)/g, "$1-"),
  );
}

/** What is stored of a recovery code, however its groups and letters are typed; nobody can guess 80 random bits. */
export function recoveryHash(typed: string): string {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, "");
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits
    .match(/.{5}/g)!
    .map((group) => BASE32[Number.parseInt(group, 2)])
    .join("");
}

function fromBase32(text: string): Buffer {
  const bits = [...text.toLowerCase()].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from(bits.match(/.{8}/g)!.map((group) => Number.parseInt(group, 2)));
}
