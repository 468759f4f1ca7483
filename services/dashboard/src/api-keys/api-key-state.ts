import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";

export type ApiKeyState = "active" | "rolled" | "expired" | "revoked";

/** Returns the state of a key. It works while active or rolled; a rolled key has an end. A key that is revoked and expired counts as revoked. */
export function apiKeyState(key: Pick<ApiKey, "revokedAt" | "expiresAt" | "rolledAt">, now: Date): ApiKeyState {
  if (key.revokedAt) return "revoked";
  if (key.expiresAt && timestampDate(key.expiresAt) <= now) return "expired";
  return key.rolledAt ? "rolled" : "active";
}
