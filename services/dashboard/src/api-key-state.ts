import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/account";

export type ApiKeyState = "active" | "rolled" | "expired" | "revoked";

/** May the key still be used? It may while active, and while rolled, which has an end. Revoked says more than expired. */
export function apiKeyState(key: Pick<ApiKey, "revokedAt" | "expiresAt" | "rolledAt">, now: Date): ApiKeyState {
  if (key.revokedAt) return "revoked";
  if (key.expiresAt && timestampDate(key.expiresAt) <= now) return "expired";
  return key.rolledAt ? "rolled" : "active";
}
