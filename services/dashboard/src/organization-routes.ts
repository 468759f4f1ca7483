import type { Express } from "express";
import type { EnvironmentView } from "./environments.ts";
import type { PageHandler, SignedInPage } from "./http/session.ts";
import type { MemberHandlers } from "./members.ts";

/** The routes about the organization: its plan, its members and its audit log. */
export function addOrganizationRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    recently: (handle: PageHandler) => PageHandler;
    plan: PageHandler;
    members: MemberHandlers;
    auditLog: PageHandler;
  },
): void {
  const { signedIn, recently, members } = options;
  const path = `${view.path}/organization`;
  app.get(path, signedIn(view, "read", options.plan));
  app.get(`${path}/audit-log`, signedIn(view, "read_audit_log", options.auditLog));
  app.get(`${path}/members`, signedIn(view, "read", members.list));
  app.get(`${path}/leave`, signedIn(view, "read", recently(members.askToLeave)));
  app.post(`${path}/leave`, signedIn(view, "read", recently(members.leave)));
  app.get(`${path}/members/:user_id`, signedIn(view, "manage_members", recently(members.view)));
  app.post(`${path}/members/:user_id`, signedIn(view, "manage_members", recently(members.setRole)));
  app.get(`${path}/members/:user_id/remove`, signedIn(view, "manage_members", recently(members.askToRemove)));
  app.post(`${path}/members/:user_id/remove`, signedIn(view, "manage_members", recently(members.remove)));
}
