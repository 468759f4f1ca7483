import { live, test } from "../http/environments.ts";
import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";

/**
 * Creates the handler of the dashboard's start for a visit to Live. It leads to the overview of Live once the organization
 * has a key or a verification there, and until then to that of Test, where nothing can go wrong.
 */
export function createHomeHandler({ apiKeys, verification, readPanel }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const { caller } = visit;
    const [keys, verified] = await Promise.all([
      readPanel(visit, "keys", (call) => apiKeys.listApiKeys({ caller }, call)),
      readPanel(visit, "verifications", (call) => verification.listVerifications({ caller, page: { limit: 1 } }, call)),
    ]);
    const isInUse = !!keys?.keys.length || !!verified?.verifications.length;
    response.redirect(303, `${(isInUse ? live : test).path}/overview`);
  };
}
