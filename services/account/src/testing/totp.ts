import { TOTP } from "otpauth";

/** Returns the step of 30 s that contains a moment, counted from 1970. */
export function stepOf(at: Date): number {
  return TOTP.counter({ timestamp: at.getTime() });
}

/** Returns the code that an authenticator app shows during a step. */
export function totpCode(secret: string, step: number): string {
  return new TOTP({ secret }).generate({ timestamp: step * 30_000 });
}
