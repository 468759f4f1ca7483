import { type IdPrefix, isId } from "@vvs/ids";
import type { Request } from "express";
import { ProblemError } from "./problem.ts";

/** Returns the id in a path parameter. Errors: ProblemError (page not found) if it is malformed. */
export function pathId(request: Request, name: string, prefix: IdPrefix): string {
  const id = String(request.params[name]);
  if (!isId(prefix, id)) throw new ProblemError("page_not_found");
  return id;
}

/** Returns a path with query parameters; empty ones are left out. */
export function pathWithQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
