import type { Permission } from "../http/roles.ts";
import type { PageHandler } from "../http/session.ts";

/**
 * A route of signed-in users, in both environments. Its path is below that of the environment. `back` is for forms: the
 * page to which opening their address leads.
 */
export type PageRoute = readonly [
  method: "get" | "post",
  path: string,
  permission: Permission,
  handle: PageHandler,
  back?: string,
];

export type PageRoutes = readonly PageRoute[];
