import type { Request } from "express";

/** Returns the value of a query parameter; empty if it is absent or has several values. */
export function queried(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === "string" ? value : "";
}
