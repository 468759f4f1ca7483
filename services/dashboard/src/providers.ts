import type { Logger } from "@vvs/logging";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoEnvironment } from "@vvs/tenant";
import { unlessAway } from "./away.ts";
import type { PageHandler } from "./http/session.ts";
import type { Layout } from "./pages/layout.ts";
import { awayPage } from "./pages/parts.ts";
import { providersPage } from "./pages/providers.ts";

/** Shows how the providers of the page's environment are. */
export function createProvidersHandler(options: {
  verification: Pick<Client<typeof VerificationService>, "listProviders">;
  layout: Layout;
  logger: Logger;
}): PageHandler {
  const { verification, layout, logger } = options;
  return async (_request, response, visit) => {
    const page = { visit, section: "providers", title: "Providers" } as const;
    const environment = toProtoEnvironment(visit.view.environment);
    const found = await unlessAway(logger, visit, () => verification.listProviders({ environment }));
    const content = found ? providersPage({ view: visit.view, providers: found.providers }) : awayPage(page.title);
    layout.sendPage(response, { ...page, status: found ? 200 : 503, content });
  };
}
