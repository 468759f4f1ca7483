import type { Express } from "express";
import type { Permission } from "../ui/roles.ts";

/** A route of signed-in users, as the app itself knows it. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly permission: Permission;
}

/** Every route of the app that names a permission, and the paths of those that name none. */
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
