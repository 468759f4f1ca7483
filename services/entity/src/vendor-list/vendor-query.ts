import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import { type ListVendorsRequest, VendorFilter, VendorOrder, type VendorPosition } from "@vvs/proto/entity/v1/vendors";
import { addDays, registryDay } from "@vvs/registration";
import type { ListedVendorDocument } from "../model/listed-vendor.ts";
import type { VendorPlace, VendorQuery } from "./vendor-store.ts";

const MAX_DAYS = 366;
const DAY_MS = 24 * 60 * 60 * 1_000;

const tags: Readonly<Record<VendorFilter, VendorQuery["tag"]>> = {
  [VendorFilter.UNSPECIFIED]: "all",
  [VendorFilter.FAILED]: "failed",
  [VendorFilter.EXCLUDED]: "excluded",
  [VendorFilter.ERROR]: "error",
  [VendorFilter.MONITORED]: "monitored",
  [VendorFilter.NOT_MONITORED]: "unmonitored",
  [VendorFilter.EXPIRING]: "all",
  [VendorFilter.EXPIRED]: "all",
  [VendorFilter.NOT_CHECKED]: "unmonitored",
  [VendorFilter.ARCHIVED]: "archived",
};

const orders: Readonly<Record<VendorOrder, Pick<VendorQuery, "field" | "direction">>> = {
  [VendorOrder.UNSPECIFIED]: { field: "name_key", direction: 1 },
  [VendorOrder.LAST_CHECK_NEWEST]: { field: "checked_at", direction: -1 },
  [VendorOrder.LAST_CHECK_OLDEST]: { field: "checked_at", direction: 1 },
  [VendorOrder.EXPIRY]: { field: "expires_on", direction: 1 },
};

/** Returns the query of a list, as of `now`. Errors: invalid_request (days, filter, order). */
export function vendorQueryOf(
  { filter, order, days }: Pick<ListVendorsRequest, "filter" | "order" | "days">,
  now: Date,
): VendorQuery {
  const tag: VendorQuery["tag"] | undefined = tags[filter];
  if (!tag) throw invalidField("filter", "must be a filter that this version knows");
  const today = registryDay(now);
  const byExpiry = { tag, ...orders[VendorOrder.EXPIRY] };
  if (filter === VendorFilter.EXPIRED) return { ...byExpiry, before: today };
  if (filter === VendorFilter.EXPIRING || filter === VendorFilter.NOT_CHECKED) {
    if (days < 1 || days > MAX_DAYS) throw invalidField("days", `must be 1–${MAX_DAYS}`);
    if (filter === VendorFilter.EXPIRING) return { ...byExpiry, from: today, before: addDays(today, days + 1) };
    return { tag, ...orders[VendorOrder.LAST_CHECK_OLDEST], before: new Date(now.getTime() - days * DAY_MS) };
  }
  const ordered: (typeof orders)[VendorOrder] | undefined = orders[order];
  if (!ordered) throw invalidField("order", "must be an order that this version knows");
  return { tag, ...ordered };
}

/** Returns the place of a vendor in a list, as a message. */
export function positionOf(vendor: ListedVendorDocument, { field }: VendorQuery) {
  const value = vendor[field];
  return { value: typeof value === "string" ? value : value.toISOString(), entityId: vendor.entity_id };
}

/** Reads a place in a list. Errors: invalid_request (after). */
export function placeOf({ value, entityId }: VendorPosition, { field }: VendorQuery): VendorPlace {
  const at = field === "checked_at" ? new Date(value) : value;
  const isValue = typeof at === "string" || !Number.isNaN(at.getTime());
  if (!isValue || !isId("ent", entityId)) throw invalidField("after", "must be a position in the list");
  return { value: at, entityId };
}

export function invalidField(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
