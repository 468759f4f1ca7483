import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createNotificationHandlers } from "./notifications.ts";

export function notificationRoutes(context: PageContext): PageRoutes {
  const notifications = createNotificationHandlers(context);
  return [
    ["get", "/notifications", "read", notifications.view],
    ["post", "/notifications", "read", notifications.save],
  ];
}
