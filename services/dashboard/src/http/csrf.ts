import type { RequestHandler } from "express";
import { ProblemError } from "./problem.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/** What a browser says of where a request comes from. */
export interface RequestOrigin {
  readonly method: string;
  /** Sec-Fetch-Site, which scripts can't set. */
  readonly site: string | undefined;
  /** Origin; "null" where the browser withholds it. */
  readonly origin: string | undefined;
}

/**
 * Does a request that changes something come from the dashboard's own pages? By Sec-Fetch-Site, which browsers have
 * sent since 2023; without it by Origin, which must be there.
 */
export function isOwnRequest({ method, site, origin }: RequestOrigin, ownOrigin: string): boolean {
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
