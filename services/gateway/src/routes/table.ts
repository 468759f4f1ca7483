import { entityRoutes } from "./entities.ts";
import { jobRoutes } from "./jobs.ts";
import { monitorRoutes } from "./monitors.ts";
import type { Route } from "./route.ts";
import { verificationRoutes } from "./verifications.ts";

/** All routes except GET /v1/health. A literal path comes before one with an id in the same place. */
export const routes: readonly Route[] = [...entityRoutes, ...verificationRoutes, ...jobRoutes, ...monitorRoutes];

/** Returns the methods of a path for the Allow header. GET includes HEAD. */
export function allowedMethods(table: readonly Route[]): string {
  return table.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}
