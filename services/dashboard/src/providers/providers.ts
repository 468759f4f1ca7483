import { toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { verificationUnavailable } from "../verifications/verifications-page.ts";
import { providersPage } from "./providers-page.ts";

/** Creates the handler that shows the state of the providers of an environment. */
export function createProvidersHandler({ verification, layout, logger, apiBaseUrl }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const page = { visit, section: "providers", title: "Providers" } as const;
    const environment = toProtoEnvironment(visit.view.environment);
    const found = await unlessUnavailable(logger, visit, () => verification.listProviders({ environment }));
    if (!found) return layout.sendPage(response, unavailablePage(page, verificationUnavailable));
    const content = providersPage({ visit, providers: found.providers, apiBaseUrl });
    layout.sendPage(response, { ...page, content });
  };
}
