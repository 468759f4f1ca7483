import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import type { ObservedRequest } from "@vvs/http";
import type { Session, SessionCallerSchema } from "@vvs/proto/account/v1/sessions";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, RequestHandler, Response } from "express";
import type { EnvironmentView } from "../ui/environments.ts";
import { isPermitted, type Permission } from "../ui/roles.ts";
import { clearCookie, readCookie } from "./cookies.ts";
import type { Html } from "./html.ts";
import { signInPath } from "./next-path.ts";
import { ProblemError } from "./problem.ts";

/** A signed-in user's request for a page of one environment. */
export interface Visit {
  readonly session: Session;
  readonly view: EnvironmentView;
  /** The user on whose behalf the page calls services; a field of each request to them. */
  readonly caller: ReturnType<typeof toProtoCaller>;
  /** Returns whether the user's role has a permission, to decide which forms to show. Each route checks again. */
  readonly may: (permission: Permission) => boolean;
  /** A warning shown above every page, if there is one. */
  readonly alert: Html | undefined;
}

/** Returns the warning to show above every page, if there is one. */
export type ReadAlert = (visit: Omit<Visit, "alert">) => Promise<Html | undefined>;

export type PageHandler = (request: Request, response: Response, visit: Visit) => Promise<void>;

/** The handlers of a section; a factory that ends with `satisfies PageHandlers` needs no type of its own. */
export type PageHandlers = Readonly<Record<string, PageHandler>>;

/** Creates a route handler for signed-in users whose role has a permission. The handler carries the permission, so that tests can list it. */
export type SignedInPage = (
  view: EnvironmentView,
  permission: Permission,
  handle: PageHandler,
) => RequestHandler & { readonly permission: Permission };

export interface SessionSource {
  getSession(request: { sessionToken: string }): Promise<{ session?: Session }>;
}

/**
 * Creates route handlers that require a session and a permission. The session is read from the account service on every
 * request, so that a session ended elsewhere is refused immediately. Without a session, the user is sent to the sign-in
 * page and then back.
 */
export function createSignedIn(sessions: SessionSource, readAlert: ReadAlert): SignedInPage {
  return (view, permission, handle) => {
    const handler: RequestHandler = async (request, response) => {
      const session = await currentSession(sessions, request);
      if (!session) {
        clearCookie(response, "__Host-session");
        response.redirect(303, signInPath(request.method, request.path));
        return;
      }
      logUser(response, session);
      const may = (other: Permission) => isPermitted(session.role, other);
      if (!may(permission)) throw new ProblemError("not_permitted");
      const tenant = { organizationId: session.organizationId, environment: view.environment };
      const origin = { requestId: observed(response).requestId, clientAddress: request.ip ?? "" };
      const caller = toProtoCaller({ tenant, actor: session.userId, ...origin });
      const alert = await readAlert({ session, view, caller, may });
      await handle(request, response, { session, view, caller, may, alert });
    };
    return Object.assign(handler, { permission });
  };
}

async function currentSession(sessions: SessionSource, request: Request): Promise<Session | undefined> {
  const sessionToken = readCookie(request, "__Host-session");
  if (!sessionToken) return undefined;
  try {
    return (await sessions.getSession({ sessionToken })).session;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unauthorized") return undefined;
    throw error;
  }
}

/** Returns the request of a response, with its id and the fields of its log line. */
export function observed(response: Response): ObservedRequest {
  return response.locals.observed;
}

/** Adds the user to the request's log line. */
export function logUser(
  response: Response,
  { userId, organizationId }: Pick<Session, "userId" | "organizationId">,
): void {
  Object.assign(observed(response).fields, { user_id: userId, organization_id: organizationId });
}

/** Returns the caller for RPCs with which users manage their own account. */
export function sessionCaller(request: Request, response: Response): MessageInitShape<typeof SessionCallerSchema> {
  return {
    sessionToken: readCookie(request, "__Host-session"),
    clientAddress: request.ip ?? "",
    userAgent: request.headers["user-agent"] ?? "",
    requestId: observed(response).requestId,
  };
}
