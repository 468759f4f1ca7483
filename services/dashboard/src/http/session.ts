import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { forCaller } from "@vvs/deadline";
import type { Admit } from "@vvs/fair-queue";
import type { ObservedRequest } from "@vvs/http";
import type { Session, SessionCallerSchema, SessionService } from "@vvs/proto/account/v1/sessions";
import type { CallOptions, Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, writeCookie } from "./cookies.ts";
import type { EnvironmentView } from "./environments.ts";
import { createPageForms, type PageForms } from "./form-token.ts";
import type { Html } from "./html.ts";
import { confirmPath, signInPath } from "./next-path.ts";
import { ProblemError } from "./problem.ts";
import { unlessRefused } from "./refusal.ts";
import { type Permission, permits } from "./roles.ts";

/** A signed-in user's request for a page of one environment. */
export interface Visit {
  readonly session: Session;
  readonly view: EnvironmentView;
  /** The user on whose behalf the page calls services; a field of each request to them. */
  readonly caller: ReturnType<typeof toProtoCaller>;
  /** The same with the user's session: fields of the requests whose caller account identifies itself. For account only. */
  readonly bySession: { readonly caller: Visit["caller"]; readonly sessionToken: string };
  /** The user's session and browser: fields of the requests with which users manage their own account. For account only. */
  readonly self: { readonly caller: MessageInitShape<typeof SessionCallerSchema> };
  readonly forms: PageForms;
  /** Returns whether the user has a permission, to decide which forms and links to show. Each route checks again. */
  readonly may: (permission: Permission) => boolean;
  /** When the request began: what relative times refer to. */
  readonly now: Date;
  /** A warning shown above every page, if there is one. */
  readonly alert: Html | undefined;
}

/** Returns the warning to show above every page, if there is one. */
export type ReadAlert = (visit: Omit<Visit, "alert">) => Promise<Html | undefined>;

export type PageHandler = (request: Request, response: Response, visit: Visit) => Promise<void>;

/** The handlers of a section; a factory that ends with `satisfies PageHandlers` needs no type of its own. */
export type PageHandlers = Readonly<Record<string, PageHandler>>;

type Sessions = Client<typeof SessionService>;

/**
 * Creates route handlers that require a session and a permission. The session is read from the account service on every
 * request, so that a session ended elsewhere is refused immediately. Without a session, the user is sent to the sign-in
 * page and then back. A page waits for its turn in the queue on behalf of the user. The handler carries its permission, so that tests can list it.
 */
export function createSignedIn(options: { sessions: Sessions; admit: Admit; readAlert: ReadAlert; now: () => Date }) {
  const { sessions, admit, readAlert, now } = options;
  const formsOf = createPageForms();
  return (view: EnvironmentView, permission: Permission, handle: PageHandler) => {
    const handler: RequestHandler = async (request, response) => {
      const sessionToken = readCookie(request, "__Host-session");
      const session =
        sessionToken && (await unlessRefused(sessions.getSession({ sessionToken }), "unauthorized"))?.session;
      if (!session) {
        clearCookie(response, "__Host-session");
        response.redirect(303, signInPath(request.method, request.url));
        return;
      }
      logUser(response, session);
      const may = (other: Permission) => permits(session, other);
      // What only operators may see does not exist for others.
      if (!may(permission)) throw new ProblemError(permission === "operate" ? "page_not_found" : "not_permitted");
      const tenant = { organizationId: session.organizationId, environment: view.environment };
      const origin = { requestId: observed(response).requestId, clientAddress: request.ip ?? "" };
      const caller = toProtoCaller({ tenant, actor: session.userId, ...origin });
      const self = { caller: { sessionToken, ...browserOf(request), requestId: origin.requestId } };
      const forms = formsOf(request, response, session.userId);
      const visit = { session, view, caller, bySession: { caller, sessionToken }, self, forms, may, now: now() };
      const call = { owner: { class: "person", ...tenant }, kind: `${request.method} ${request.route.path}` } as const;
      await forCaller(hangUpOf(response), () =>
        admit(call, async () => handle(request, response, { ...visit, alert: await readAlert(visit) })),
      );
    };
    return Object.assign(handler, { permission });
  };
}

/** Returns the request of a response, with its id and the fields of its log line. */
export function observed(response: Response): ObservedRequest {
  return response.locals.observed;
}

/** Adds the user to the request's log line. */
function logUser(response: Response, { userId, organizationId }: Pick<Session, "userId" | "organizationId">): void {
  Object.assign(observed(response).fields, { user_id: userId, organization_id: organizationId });
}

/** Starts a new session in the browser, and ends the previous one. */
export type BeginSession = (request: Request, response: Response, newSession: NewSession) => Promise<void>;

interface NewSession {
  readonly session?: Pick<Session, "userId" | "organizationId" | "expiresAt">;
  readonly sessionToken: string;
  /** Makes the browser a known device of the user; empty or absent if the session was continued. */
  readonly deviceToken?: string;
}

/** How long the browser keeps the device's token after the session, in milliseconds: as long as account knows a device. */
const KNOWN_MS = 365 * 24 * 60 * 60_000;

export function createBeginSession(sessions: Sessions): BeginSession {
  return async (request, response, newSession) => {
    await endSession(sessions, request);
    logUser(response, newSession.session!);
    keepSession(response, newSession);
    if (newSession.deviceToken) {
      const sessionEnds = timestampDate(newSession.session!.expiresAt!);
      writeCookie(response, "__Host-device", newSession.deviceToken, new Date(sessionEnds.getTime() + KNOWN_MS));
    }
  };
}

/** Returns the token with which account recognizes a browser that signed in before. */
export function deviceToken(request: Request): string | undefined {
  return readCookie(request, "__Host-device");
}

/** Returns the options of a call that is worth nothing once the browser has gone: one that hashes a password. */
export function whileConnected(response: Response): CallOptions {
  return { signal: hangUpOf(response) };
}

function hangUpOf(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

/** Makes the browser keep a new or renewed session. */
export function keepSession(response: Response, { session, sessionToken }: NewSession): void {
  writeCookie(response, "__Host-session", sessionToken, timestampDate(session!.expiresAt!));
}

export async function endSession(sessions: Sessions, request: Request): Promise<void> {
  const sessionToken = readCookie(request, "__Host-session");
  if (sessionToken) await sessions.signOut({ sessionToken, clientAddress: request.ip ?? "" });
}

/** Returns how the account service shows a browser in lists of sessions. */
export function browserOf(request: Request): { clientAddress: string; userAgent: string } {
  return { clientAddress: request.ip ?? "", userAgent: request.headers["user-agent"] ?? "" };
}

/** How long users count as confirmed after they entered their password, used a passkey or signed in with their provider. */
export const RECENT_MS = 15 * 60_000;

/** Returns whether the user of a session confirmed their identity within the last 15 minutes. */
export function isConfirmed({ session, now }: { session: Pick<Session, "authenticatedAt">; now: Date }): boolean {
  const { authenticatedAt } = session;
  return authenticatedAt !== undefined && now.getTime() - timestampDate(authenticatedAt).getTime() < RECENT_MS;
}

/**
 * Wraps a handler so that it runs only for users who confirmed their identity recently. Others are asked to do so first, and
 * then led back: to `page` below the environment, if the form is on another page than its path suggests.
 */
export const requireConfirmed =
  (handle: PageHandler, page?: string): PageHandler =>
  async (request, response, visit) => {
    const { view } = visit;
    if (isConfirmed(visit)) return handle(request, response, visit);
    response.redirect(303, confirmPath(view, page ? "GET" : request.method, page ? view.path + page : request.url));
  };
