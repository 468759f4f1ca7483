import type { Request } from "express";

/** The value of a parameter of the query; empty where it is absent or there are several. */
export function queried(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === "string" ? value : "";
}
