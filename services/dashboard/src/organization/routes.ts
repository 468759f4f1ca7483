import { requireConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createAuditLog } from "./audit-log.ts";
import { createMemberHandlers } from "./members.ts";
import { createOrganizationHandler } from "./organization.ts";

const MEMBERS = "/organization/members";

export function organizationRoutes(context: PageContext): PageRoutes {
  const members = createMemberHandlers(context);
  const manage = "manage_members";
  return [
    ["get", "/organization", "read", createOrganizationHandler(context)],
    ["get", "/organization/audit-log", "read_audit_log", createAuditLog(context).list],
    ["get", "/organization/leave", "read", requireConfirmed(members.askToLeave)],
    ["post", "/organization/leave", "read", requireConfirmed(members.leave, MEMBERS)],
    ["get", MEMBERS, "read", members.list],
    // Before the routes of members, whose :user_id would match too.
    ["post", `${MEMBERS}/invitations`, manage, requireConfirmed(members.invite, MEMBERS), MEMBERS],
    ...(["resend", "revoke"] as const).map(
      (form) =>
        [
          "post",
          `${MEMBERS}/invitations/:invitation_id/${form}`,
          manage,
          requireConfirmed(members[`${form}Invitation`], MEMBERS),
          MEMBERS,
        ] as const,
    ),
    ["get", `${MEMBERS}/:user_id`, manage, requireConfirmed(members.view)],
    ["post", `${MEMBERS}/:user_id`, manage, requireConfirmed(members.setRole, MEMBERS)],
    ["get", `${MEMBERS}/:user_id/remove`, manage, requireConfirmed(members.askToRemove)],
    ["post", `${MEMBERS}/:user_id/remove`, manage, requireConfirmed(members.remove, MEMBERS)],
  ];
}
