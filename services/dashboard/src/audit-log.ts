import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { readAuditFilter } from "./audit-filter.ts";
import { utcTime } from "./delivery-filter.ts";
import type { PageHandler } from "./http/session.ts";
import { readPlace } from "./list-place.ts";
import { auditLogPage } from "./pages/audit-log.ts";
import type { Layout } from "./pages/layout.ts";

const SHOWN = 50;

/** Shows who did what, when and from where. */
export function createAuditLogHandler(options: {
  organization: Pick<Client<typeof OrganizationService>, "listAuditEntries" | "listMembers">;
  layout: Layout;
}): PageHandler {
  const { organization, layout } = options;
  return async (request, response, visit) => {
    const { filter, problems } = readAuditFilter(request.query);
    const after = readPlace(request.query.after, "audit");
    const isRefused = Object.keys(problems).length > 0;
    const caller = toProtoCaller(visit.caller);
    const asked = {
      caller,
      actor: filter.actor,
      action: filter.action,
      from: utcTime(filter.from),
      to: utcTime(filter.to),
      page: { limit: SHOWN, after },
    };
    const [{ members }, found] = await Promise.all([
      organization.listMembers({ caller }),
      isRefused ? undefined : organization.listAuditEntries(asked),
    ]);
    const content = auditLogPage({ visit, filter, problems, members, found, isFirst: after === undefined });
    const status = isRefused ? 400 : 200;
    layout.sendPage(response, { visit, section: "organization", title: "Audit log", status, content });
  };
}
