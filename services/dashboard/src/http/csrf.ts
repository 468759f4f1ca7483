import type { RequestHandler } from "express";
import { ProblemError } from "./problem.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns whether a request is safe or comes from the dashboard's own pages. All browsers have sent Sec-Fetch-Site
 * since 2023, which scripts can't set; without it, Origin must be present and equal.
 */
export function isOwnRequest(
  { method, site, origin }: { method: string; site: string | undefined; origin: string | undefined },
  ownOrigin: string,
): boolean {
  if (SAFE.has(method)) return true;
  return site === undefined ? origin === ownOrigin : site === "same-origin";
}

/** Refuses forms that other sites submit with the user's cookie. */
export function refuseForeignForms(ownOrigin: string): RequestHandler {
  return (request, _response, next) => {
    const { "sec-fetch-site": site, origin } = request.headers;
    const own = isOwnRequest({ method: request.method, site: site as string | undefined, origin }, ownOrigin);
    next(own ? undefined : new ProblemError("foreign_form"));
  };
}
