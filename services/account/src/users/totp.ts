import { createHash } from "node:crypto";
import { Secret, TOTP } from "otpauth";

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** Returns a new secret: 160 random bits in base32, which authenticator apps accept. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the URI that an authenticator app opens (Key Uri Format). */
export function totpUri(secret: string, email: string): string {
  return new TOTP({ secret, issuer: "Vendor Verification", label: email }).toString();
}

/**
 * Returns the step (of 30 s since 1970) of a code, if it is later than `lastStep`; undefined if the code is wrong. The
 * code is that of now, or of the step before or after: clocks differ, and typing takes time.
 */
export function matchingStep(
  secret: string,
  typed: string,
  { now, lastStep }: { now: Date; lastStep: number },
): number | undefined {
  const totp = new TOTP({ secret });
  const timestamp = now.getTime();
  const delta = totp.validate({ token: typed.replaceAll(/\s/g, ""), timestamp, window: 1 });
  if (delta === null) return undefined;
  const step = totp.counter({ timestamp }) + delta;
  return step > lastStep ? step : undefined;
}

/** Returns codes for users who lose the app: 80 random bits each, in four groups. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    new Secret({ size: RECOVERY_BYTES }).base32.toLowerCase().match(/.{4}/g)!.join("-"),
  );
}

/** Returns the stored hash of a recovery code, however its groups and letters are typed. 80 random bits need no salt. */
export function recoveryHash(typed: string): string {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, "");
  return createHash("sha256").update(text, "utf8").digest("hex");
}
