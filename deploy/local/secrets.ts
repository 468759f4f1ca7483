import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** The key rings of the services. Each gets one key of 32 random bytes. */
const KEY_RINGS = [
  "API_KEY_PEPPERS",
  "IDEMPOTENCY_KEYS",
  "RECEIPT_KEYS",
  "TIN_KEYS",
  "TIN_HASH_KEYS",
  "WEBHOOK_SECRET_KEYS",
] as const;

export type LocalSecrets = Readonly<Record<(typeof KEY_RINGS)[number], string>>;

/** Returns new secrets. */
export function generateSecrets(): LocalSecrets {
  const ring = () => `local:${randomBytes(32).toString("base64")}`;
  return Object.fromEntries(KEY_RINGS.map((name) => [name, ring()])) as LocalSecrets;
}

/**
 * Returns the secrets of this checkout's local runs: always the same, because stored data depends on them. Those that a file
 * of an earlier version lacks are added.
 */
export function localSecrets(path: string): LocalSecrets {
  const stored: Partial<LocalSecrets> = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const secrets = { ...generateSecrets(), ...stored };
  if (KEY_RINGS.some((name) => !stored[name])) {
    writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  }
  return secrets;
}
