import { entityIdField, readFilter } from "../http/filter.ts";
import { pathId } from "../http/paths.ts";
import type { PageHandlers } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readSameNames } from "../payment/same-names.ts";
import { actorView } from "../ui/actor.ts";
import { readPosition } from "../ui/list-position.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { readKeys } from "../ui/read-keys.ts";
import { askedAbout, askedWarning, namesToCompare } from "./asked-about.ts";
import { readVendorThen } from "./vendor-then.ts";
import { verificationPage } from "./verification-page.ts";
import { verificationsPage, verificationUnavailable } from "./verifications-page.ts";

const PAGE_SIZE = 25;

export function createVerificationHandlers(context: PageContext) {
  const { verification, readVendors, layout, logger, apiBaseUrl } = context;
  return {
    async list(request, response, visit) {
      const list = readFilter(request.query, { entity_id: entityIdField });
      const after = readPosition(request.query.after, "ver");
      const listed = { caller: visit.caller, entityId: list.filter.entity_id, page: { limit: PAGE_SIZE, after } };
      const found = list.isRefused
        ? undefined
        : await unlessUnavailable(logger, visit, () => verification.listVerifications(listed));
      const vendors = await readVendors(visit, found?.verifications ?? []);
      const content = verificationsPage({ visit, list, found, vendors, isFirst: after === undefined, apiBaseUrl });
      const status = list.isRefused ? 400 : found ? 200 : 503;
      layout.sendPage(response, { visit, section: "verifications", title: "Verifications", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "verifications", title: "Verification" } as const;
      const { caller } = visit;
      const verificationId = pathId(request, "verification_id", "ver");
      const found = await unlessUnavailable(logger, visit, () =>
        verification.getVerification({ caller, verificationId }),
      );
      if (!found) return layout.sendPage(response, unavailablePage(page, verificationUnavailable));
      const [vendors, then, keys] = await Promise.all([
        readVendors(visit, [found.verification!]),
        readVendorThen(context, visit, found.verification!),
        readKeys(context, visit),
      ]);
      const asked = askedAbout(found.verification!);
      const isSame = await readSameNames(context, visit, namesToCompare(asked, then?.legalName));
      const content = verificationPage({
        visit,
        verification: found.verification!,
        vendors,
        asked,
        warning: askedWarning(asked, then?.legalName ?? "", isSame),
        apiBaseUrl,
        actor: actorView(found.verification!.actor, { session: visit.session, keys }),
      });
      layout.sendPage(response, { ...page, content });
    },
  } satisfies PageHandlers;
}
