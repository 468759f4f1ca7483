import { ServiceError } from "@vvs/errors";
import type { Session } from "@vvs/proto/account/v1/account";
import type { CallerContext } from "@vvs/tenant";
import type { Request, RequestHandler, Response } from "express";
import type { EnvironmentView } from "../environments.ts";
import { isPermitted, type Permission } from "../permissions.ts";
import { alsoLog, requestIdOf } from "./access-log.ts";
import { clearCookie, readCookie } from "./cookies.ts";
import type { Html } from "./html.ts";
import { signInPath } from "./next-path.ts";
import { ProblemError } from "./problem.ts";

/** Who looks at a page, and in which environment. */
export interface Visit {
  readonly session: Session;
  readonly view: EnvironmentView;
  /** On whose behalf the page calls services. */
  readonly caller: CallerContext;
  /** What a form may be offered for; the route it leads to asks again. */
  readonly may: (permission: Permission) => boolean;
  /** What the user should know of, whatever the page is about. */
  readonly alert: Html | undefined;
}

/** What a user should know of on every page. */
export type ReadAlert = (visit: Omit<Visit, "alert">) => Promise<Html | undefined>;

export type PageHandler = (request: Request, response: Response, visit: Visit) => Promise<void>;

/** Makes a handler for signed-in users whose role permits it; it tells the permission, so that routes can be listed with theirs. */
export type SignedInPage = (
  view: EnvironmentView,
  permission: Permission,
  handle: PageHandler,
) => RequestHandler & { readonly permission: Permission };

export interface SessionSource {
  getSession(request: { sessionToken: string }): Promise<{ session?: Session }>;
}

/**
 * Makes a handler for signed-in users alone, and of them for those whose role permits it. The session is asked for on every request, so that one that was ended
 * anywhere is over here too; without one the way leads to the sign-in page and back.
 */
export function createSignedIn(account: SessionSource, readAlert: ReadAlert): SignedInPage {
  return (view, permission, handle) => {
    const handler: RequestHandler = async (request, response) => {
      const session = await currentSession(account, request);
      if (!session) {
        clearCookie(response, "__Host-session");
        response.redirect(303, signInPath(request.method, request.path));
        return;
      }
      alsoLog(response, { user_id: session.userId, organization_id: session.organizationId });
      const may = (asked: Permission) => isPermitted(session.role, asked);
      if (!may(permission)) throw new ProblemError("not_permitted");
      const tenant = { organizationId: session.organizationId, environment: view.environment };
      const place = { requestId: requestIdOf(response), clientAddress: request.ip ?? "" };
      const caller = { tenant, actor: session.userId, ...place };
      const alert = await readAlert({ session, view, caller, may });
      await handle(request, response, { session, view, caller, may, alert });
    };
    return Object.assign(handler, { permission });
  };
}

async function currentSession(account: SessionSource, request: Request): Promise<Session | undefined> {
  const sessionToken = readCookie(request, "__Host-session");
  if (!sessionToken) return undefined;
  try {
    return (await account.getSession({ sessionToken })).session;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unauthorized") return undefined;
    throw error;
  }
}
