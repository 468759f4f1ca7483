import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "./panels.ts";

/** Returns the API keys, to name the actors of a page; none while unavailable, so that the page shows only ids. */
export async function readKeys(
  { apiKeys, logger }: Pick<PageContext, "apiKeys" | "logger">,
  visit: Visit,
): Promise<readonly ApiKey[]> {
  return (await unlessUnavailable(logger, visit, () => apiKeys.listApiKeys({ caller: visit.caller })))?.keys ?? [];
}
