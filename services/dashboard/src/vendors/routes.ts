import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createFindHandlers } from "./find.ts";
import { createScreeningHandlers } from "./screening.ts";
import { createSearchHandlers } from "./search.ts";
import { createSearchLimit } from "./search-input.ts";
import { createVendorHandlers } from "./vendor.ts";
import { createVendorList } from "./vendor-list.ts";
import { createVendorNumberHandlers } from "./vendor-number.ts";

export function vendorRoutes(context: PageContext): PageRoutes {
  const countSearch = createSearchLimit(context);
  const vendors = createVendorList(context);
  const screening = createScreeningHandlers(context);
  const search = createSearchHandlers(context, countSearch);
  const vendor = createVendorHandlers(context);
  const vendorNumber = createVendorNumberHandlers(context);
  return [
    ["get", "/vendors", "read", vendors.list],
    ["get", "/vendors.csv", "read", vendors.download],
    ["post", "/vendors/archive", "manage_monitors", vendors.archive, "/vendors"],
    ["get", "/screening", "read", screening.view],
    ["get", "/screening.csv", "read", screening.download],
    ["get", "/vendors/search", "read", search.ask],
    ["post", "/vendors/search", "read", search.submit],
    ["get", "/vendors/:entity_id", "read", vendor.view],
    ["post", "/vendors/:entity_id/verify", "verify", vendor.verify, "/vendors/:entity_id"],
    ["post", "/vendors/:entity_id/monitor", "manage_monitors", vendor.monitor, "/vendors/:entity_id"],
    ["get", "/vendors/:entity_id/vendor-number", "verify", vendorNumber.ask],
    ["post", "/vendors/:entity_id/vendor-number", "verify", vendorNumber.change],
    ["post", "/find", "read", createFindHandlers(context, countSearch).find, "/vendors"],
  ];
}
