import type { Express } from "express";
import type { PageHandler, SignedInPage } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import type { createMemberHandlers } from "./members.ts";

/** Adds the routes of the organization: its plan, members and audit log. */
export function addOrganizationRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    requirePassword: (handle: PageHandler, page?: string) => PageHandler;
    plan: PageHandler;
    members: ReturnType<typeof createMemberHandlers>;
    auditLog: PageHandler;
  },
): void {
  const { signedIn, requirePassword, members } = options;
  const path = `${view.path}/organization`;
  const list = `${path}/members`;
  /** For forms whose answer is the list of members. */
  const form = (handle: PageHandler) => signedIn(view, "manage_members", requirePassword(handle, list));
  app.get(path, signedIn(view, "read", options.plan));
  app.get(`${path}/audit-log`, signedIn(view, "read_audit_log", options.auditLog));
  app.get(list, signedIn(view, "read", members.list));
  app.get(`${path}/leave`, signedIn(view, "read", requirePassword(members.askToLeave)));
  app.post(`${path}/leave`, signedIn(view, "read", requirePassword(members.leave, list)));
  // Before the routes of members, whose :user_id would match too.
  app.post(`${list}/invitations`, form(members.invite));
  app.post(`${list}/invitations/:invitation_id/resend`, form(members.resendInvitation));
  app.post(`${list}/invitations/:invitation_id/revoke`, form(members.revokeInvitation));
  // Opening the address of a form's answer leads back to the list.
  app.get([`${list}/invitations`, `${list}/invitations/:invitation_id/:form`], (_request, response) =>
    response.redirect(303, list),
  );
  app.get(`${list}/:user_id`, signedIn(view, "manage_members", requirePassword(members.view)));
  app.post(`${list}/:user_id`, form(members.setRole));
  app.get(`${list}/:user_id/remove`, signedIn(view, "manage_members", requirePassword(members.askToRemove)));
  app.post(`${list}/:user_id/remove`, form(members.remove));
}
