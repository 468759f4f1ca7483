import { requireConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createPasskeyHandlers } from "./passkeys.ts";
import { createSecurityHandlers } from "./security.ts";
import { createTwoFactorHandlers } from "./two-factor.ts";

export function securityRoutes(context: PageContext): PageRoutes {
  const passkeys = createPasskeyHandlers(context);
  const security = createSecurityHandlers(context);
  const twoFactor = createTwoFactorHandlers(context);
  return [
    ["get", "/security", "read", security.view],
    ["post", "/security/sessions/end", "read", security.endSession, "/security"],
    ["post", "/security/sessions/end-others", "read", security.endOtherSessions, "/security"],
    ["post", "/security/password", "read", security.changePassword, "/security"],
    ["get", "/security/confirm", "read", security.askForPassword],
    ["post", "/security/confirm", "read", security.confirmPassword],
    ["get", "/security/confirm/passkey", "read", passkeys.askToConfirm],
    ["post", "/security/confirm/passkey", "read", passkeys.confirm],
    ["get", "/security/passkeys/new", "read", requireConfirmed(passkeys.ask)],
    ["post", "/security/passkeys", "read", requireConfirmed(passkeys.add), "/security"],
    ["post", "/security/passkeys/remove", "read", requireConfirmed(passkeys.remove), "/security"],
    ["get", "/security/two-factor", "read", requireConfirmed(twoFactor.setUp)],
    ["post", "/security/two-factor", "read", requireConfirmed(twoFactor.enable)],
    ["post", "/security/two-factor/disable", "read", requireConfirmed(twoFactor.disable), "/security"],
  ];
}
