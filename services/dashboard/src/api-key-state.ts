import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vvs/proto/account/v1/account";

export type ApiKeyState = "active" | "expired" | "revoked";

/** May the key still be used? Revoked says more than expired. */
export function apiKeyState(key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: Date): ApiKeyState {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && timestampDate(key.expiresAt) <= now ? "expired" : "active";
}
