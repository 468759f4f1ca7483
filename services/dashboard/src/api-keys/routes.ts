import { requireConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createApiKeyHandlers } from "./api-keys.ts";

export function apiKeyRoutes(context: PageContext): PageRoutes {
  const keys = createApiKeyHandlers(context);
  return [
    ["get", "/api-keys", "read", keys.list],
    ["post", "/api-keys", "manage_keys", requireConfirmed(keys.create)],
    ["get", "/api-keys/:key_id/roll", "manage_keys", requireConfirmed(keys.askToRoll)],
    ["post", "/api-keys/:key_id/roll", "manage_keys", requireConfirmed(keys.roll)],
    ["get", "/api-keys/:key_id/revoke", "manage_keys", keys.askToRevoke],
    ["post", "/api-keys/:key_id/revoke", "manage_keys", keys.revoke],
  ];
}
