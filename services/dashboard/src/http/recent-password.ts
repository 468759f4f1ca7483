import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Session } from "@vvs/proto/account/v1/sessions";
import { confirmPath } from "./next-path.ts";
import type { PageHandler } from "./session.ts";

/** How long a password counts as recently entered. */
export const RECENT_MS = 15 * 60_000;

/** Returns whether the user of a session entered the password within the last 15 minutes. */
export function hasRecentPassword({ authenticatedAt }: Pick<Session, "authenticatedAt">, now: Date): boolean {
  return authenticatedAt !== undefined && now.getTime() - timestampDate(authenticatedAt).getTime() < RECENT_MS;
}

/**
 * Wraps a handler so that it runs only for users who entered their password recently. Others are asked for it first, and
 * then led back: to `page`, if the form is on another page than its path suggests.
 */
export function createRequirePassword(options: { now: () => Date }) {
  return (handle: PageHandler, page?: string): PageHandler =>
    async (request, response, visit) => {
      if (hasRecentPassword(visit.session, options.now())) return handle(request, response, visit);
      response.redirect(303, confirmPath(visit.view, page ? "GET" : request.method, page ?? request.path));
    };
}
