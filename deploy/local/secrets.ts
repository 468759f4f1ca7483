import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** The key rings of the services. Each gets one key of 32 random bytes. */
const KEY_RINGS = ["API_KEY_PEPPERS", "IDEMPOTENCY_KEYS", "TIN_KEYS", "TIN_HASH_KEYS", "WEBHOOK_SECRET_KEYS"] as const;

export type LocalSecrets = Readonly<Record<(typeof KEY_RINGS)[number], string>>;

/** Returns new secrets. */
export function generateSecrets(): LocalSecrets {
  const ring = () => `local:${randomBytes(32).toString("base64")}`;
  return Object.fromEntries(KEY_RINGS.map((name) => [name, ring()])) as LocalSecrets;
}

/** Returns the secrets of this checkout's local runs: always the same, because stored data depends on them. */
export function localSecrets(path: string): LocalSecrets {
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(generateSecrets(), null, 2)}\n`, { mode: 0o600 });
  return JSON.parse(readFileSync(path, "utf8")) as LocalSecrets;
}
