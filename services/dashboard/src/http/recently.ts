import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Session } from "@vvs/proto/account/v1/account";
import { confirmPath } from "./next-path.ts";
import type { PageHandler } from "./session.ts";

/** How long a password counts as just given. */
export const RECENT_MS = 15 * 60_000;

/** Was the session's password given within the last 15 minutes? */
export function isRecent(session: Pick<Session, "authenticatedAt">, now: Date): boolean {
  if (!session.authenticatedAt) return false;
  return now.getTime() - timestampDate(session.authenticatedAt).getTime() < RECENT_MS;
}

/**
 * Keeps a handler for those who gave their password lately; others are asked for it first, and led back: to `page`, where
 * a form is on another one than its own path tells.
 */
export function createRecently(options: { now: () => Date }) {
  return (handle: PageHandler, page?: string): PageHandler =>
    async (request, response, visit) => {
      if (isRecent(visit.session, options.now())) return handle(request, response, visit);
      response.redirect(303, confirmPath(visit.view, page ? "GET" : request.method, page ?? request.path));
    };
}
