import type { Express } from "express";
import type { Permission } from "../http/roles.ts";

/** A route for signed-in users, read from the app. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly permission: Permission;
}

/** Returns the routes of the app with a permission, and the method and path of those without. */
export function routesOf(app: Express): { guarded: Route[]; open: string[] } {
  const guarded: Route[] = [];
  const open: string[] = [];
  for (const { route } of app.router.stack) {
    if (!route) continue;
    for (const { method, handle } of route.stack) {
      const { permission } = handle as { permission?: Permission };
      const name = method.toUpperCase() as Route["method"];
      for (const path of [route.path].flat()) {
        if (permission) guarded.push({ method: name, path, permission });
        else open.push(`${name} ${path}`);
      }
    }
  }
  return { guarded, open };
}
