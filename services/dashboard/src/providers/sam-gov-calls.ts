import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { verificationUnavailable } from "../verifications/verifications-page.ts";
import { samGovCallsPage } from "./sam-gov-calls-page.ts";

/** Creates the handler that shows operators how the quota of SAM.gov's API is used. */
export function createSamGovCallsHandler({ verification, layout, logger }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const page = { visit, section: "providers", title: "SAM.gov calls" } as const;
    const found = await unlessUnavailable(logger, visit, () => verification.getSamGovCalls({}));
    if (!found) return layout.sendPage(response, unavailablePage(page, verificationUnavailable));
    layout.sendPage(response, { ...page, content: samGovCallsPage(visit.view, found) });
  };
}
