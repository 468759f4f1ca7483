import type { Logger } from "@vvs/logging";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { unavailablePage } from "../ui/parts.ts";
import { providersPage } from "./providers-page.ts";

/** Creates the handler that shows the state of the providers of an environment. */
export function createProvidersHandler(options: {
  verification: Pick<Client<typeof VerificationService>, "listProviders">;
  layout: Layout;
  logger: Logger;
}): PageHandler {
  const { verification, layout, logger } = options;
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
