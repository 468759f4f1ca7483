import { toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { unavailablePage } from "../ui/parts.ts";
import { providersPage } from "./providers-page.ts";

/** Creates the handler that shows the state of the providers of an environment. */
export function createProvidersHandler({ verification, layout, logger }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const page = { visit, section: "providers", title: "Providers" } as const;
    const environment = toProtoEnvironment(visit.view.environment);
    const found = await unlessUnavailable(logger, visit, () => verification.listProviders({ environment }));
    const content = found
      ? providersPage({ view: visit.view, providers: found.providers })
      : unavailablePage(page.title);
    layout.sendPage(response, { ...page, status: found ? 200 : 503, content });
  };
}
