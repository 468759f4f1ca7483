import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readPosition } from "../ui/list-position.ts";
import { utcTime } from "../webhooks/delivery-filter.ts";
import { readAuditFilter } from "./audit-filter.ts";
import { auditLogPage } from "./audit-log-page.ts";

const PAGE_SIZE = 50;

/** Creates the handler of the audit log: who did what, when and from where. */
export function createAuditLogHandler({ organization, auditLog, layout }: PageContext): PageHandler {
  return async (request, response, visit) => {
    const { filter, problems } = readAuditFilter(request.query);
    const after = readPosition(request.query.after, "audit");
    const isRefused = Object.keys(problems).length > 0;
    const { caller } = visit;
    const auditRequest = {
      caller,
      actor: filter.actor,
      action: filter.action,
      from: utcTime(filter.from),
      to: utcTime(filter.to),
      page: { limit: PAGE_SIZE, after },
    };
    const [{ members }, found] = await Promise.all([
      organization.listMembers({ caller }),
      isRefused ? undefined : auditLog.listAuditEntries(auditRequest),
    ]);
    const content = auditLogPage({ visit, filter, problems, members, found, isFirst: after === undefined });
    const status = isRefused ? 400 : 200;
    layout.sendPage(response, { visit, section: "organization", title: "Audit log", status, content });
  };
}
