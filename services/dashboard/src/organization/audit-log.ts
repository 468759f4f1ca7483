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
    const list = readAuditFilter(request.query);
    const after = readPosition(request.query.after, "log");
    const { actor, action, from, to } = list.filter;
    const times = { from: utcTime(from), to: utcTime(to) };
    const [{ members }, found] = await Promise.all([
      organization.listMembers(visit.bySession),
      list.isRefused
        ? undefined
        : auditLog.listAuditEntries({ ...visit.bySession, actor, action, ...times, page: { limit: PAGE_SIZE, after } }),
    ]);
    const content = auditLogPage({ visit, list, members, found, isFirst: after === undefined });
    const status = list.isRefused ? 400 : 200;
    layout.sendPage(response, { visit, section: "organization", title: "Audit log", status, content });
  };
}
