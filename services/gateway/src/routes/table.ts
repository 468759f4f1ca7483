import { entityRoutes } from "./entities.ts";
import { monitorRoutes } from "./monitors.ts";
import type { Route } from "./route.ts";
import { verificationRoutes } from "./verifications.ts";

/** The interface, but for GET /v1/health. A path that is spelled out stands before one with an id in the same place. */
export const routes: readonly Route[] = [...entityRoutes, ...verificationRoutes, ...monitorRoutes];

/** The routes of each path, in the order of the table. */
export function routesByPath(table: readonly Route[]): Map<string, Route[]> {
  const paths = new Map<string, Route[]>();
  for (const route of table) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return paths;
}

/** The methods of a path, for the Allow header: whoever may GET may HEAD. */
export function allowedMethods(table: readonly Route[]): string {
  return table.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}
