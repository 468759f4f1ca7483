import type { Express } from "express";
import type { PageHandler, SignedInPage } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import type { InvitationHandlers } from "./invitations.ts";
import type { MemberHandlers } from "./members.ts";

/** Adds the routes of the organization: its plan, members and audit log. */
export function addOrganizationRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    requirePassword: (handle: PageHandler, page?: string) => PageHandler;
    plan: PageHandler;
    members: MemberHandlers;
    invitations: InvitationHandlers;
    auditLog: PageHandler;
  },
): void {
  const { signedIn, requirePassword, members, invitations } = options;
  const path = `${view.path}/organization`;
  const list = `${path}/members`;
  const requirePasswordOnList = (handle: PageHandler) => requirePassword(handle, list);
  app.get(path, signedIn(view, "read", options.plan));
  app.get(`${path}/audit-log`, signedIn(view, "read_audit_log", options.auditLog));
  app.get(list, signedIn(view, "read", members.list));
  app.get(`${path}/leave`, signedIn(view, "read", requirePassword(members.askToLeave)));
  app.post(`${path}/leave`, signedIn(view, "read", requirePasswordOnList(members.leave)));
  // Before the routes of members, whose :user_id would match too.
  app.post(`${list}/invitations`, signedIn(view, "manage_members", requirePasswordOnList(invitations.create)));
  app.post(
    `${list}/invitations/:invitation_id/resend`,
    signedIn(view, "manage_members", requirePasswordOnList(invitations.resend)),
  );
  app.post(
    `${list}/invitations/:invitation_id/revoke`,
    signedIn(view, "manage_members", requirePasswordOnList(invitations.revoke)),
  );
  // Opening the address of a form's answer leads back to the list.
  app.get([`${list}/invitations`, `${list}/invitations/:invitation_id/:form`], (_request, response) =>
    response.redirect(303, list),
  );
  app.get(`${list}/:user_id`, signedIn(view, "manage_members", requirePassword(members.view)));
  app.post(`${list}/:user_id`, signedIn(view, "manage_members", requirePasswordOnList(members.setRole)));
  app.get(`${list}/:user_id/remove`, signedIn(view, "manage_members", requirePassword(members.askToRemove)));
  app.post(`${list}/:user_id/remove`, signedIn(view, "manage_members", requirePasswordOnList(members.remove)));
}
