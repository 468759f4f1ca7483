import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createChangesHandler } from "./changes.ts";
import { createListHandlers } from "./list.ts";
import { createListOfLists } from "./lists.ts";
import { createMonitorPassedHandler } from "./monitor-passed.ts";
import { createPreviewHandlers } from "./preview.ts";
import { createUploadHandlers } from "./upload-form.ts";

export function listRoutes(context: PageContext): PageRoutes {
  const upload = createUploadHandlers(context);
  const preview = createPreviewHandlers(context);
  const list = createListHandlers(context);
  return [
    ["get", "/lists", "read", createListOfLists(context).list],
    ["post", "/lists", "verify", preview.start],
    ["get", "/lists/new", "verify", upload.ask],
    ["get", "/lists/sample.csv", "read", upload.sample],
    ["post", "/lists/preview", "verify", preview.preview, "/lists/new"],
    ["get", "/lists/:job_id.csv", "read", list.download],
    ["get", "/lists/:job_id", "read", list.view],
    ["get", "/lists/:job_id/changes", "read", createChangesHandler(context)],
    ["post", "/lists/:job_id/cancel", "verify", list.cancel, "/lists/:job_id"],
    ["post", "/lists/:job_id/monitors", "manage_monitors", createMonitorPassedHandler(context), "/lists/:job_id"],
  ];
}
