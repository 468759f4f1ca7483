import { type IdPrefix, isId } from "@vvs/ids";
import type { Request } from "express";
import { ProblemError } from "./problem.ts";

/** Returns the id in a path parameter. Errors: ProblemError (page not found) if it is malformed. */
export function pathId(request: Request, name: string, prefix: IdPrefix): string {
  const id = String(request.params[name]);
  if (!isId(prefix, id)) throw new ProblemError("page_not_found");
  return id;
}
