import { timestampDate } from "@bufbuild/protobuf/wkt";
import { fieldTitle, valueText } from "@vvs/checks/words";
import type { EndpointFails, RegistrationExpires, VendorChanged } from "@vvs/proto/account/v1/notifications";
import { exactTime, longDay } from "@vvs/registration";
import type { Notification, NotificationKind } from "../model/notifications.ts";
import { invalid } from "../refusals.ts";

const MAX_CHANGES = 50;

type Changes = VendorChanged["changes"];

/** Returns what a monitor found, in words. Errors: invalid_request. */
export function vendorChange({ changes, ...vendor }: VendorChanged): Omit<Notification, "id"> {
  if (!vendor.entityId || changes.length === 0 || changes.length > MAX_CHANGES) {
    throw invalid("vendor_changed", `must name a vendor and 1 to ${MAX_CHANGES} changes`);
  }
  return { kind: kindOf(changes), ...about(vendor), lines: changes.map(lineOf) };
}

/** Returns that a registration ends soon, in words. Errors: invalid_request. */
export function registrationEnd({ expirationDate, ...vendor }: RegistrationExpires): Omit<Notification, "id"> {
  if (!vendor.entityId || !expirationDate) throw invalid("registration_expires", "must name a vendor and a date");
  const line = `Its SAM.gov registration ends on ${longDay(expirationDate)} unless the vendor renews it.`;
  return { kind: "expiring", ...about(vendor), lines: [line] };
}

/** Returns that a webhook endpoint fails, in words. Errors: invalid_request. */
export function endpointFailure({ host, failingSince }: EndpointFails): Omit<Notification, "id"> {
  if (!host || !failingSince) throw invalid("endpoint_fails", "must name a host and a time");
  const since = exactTime(timestampDate(failingSince), "minute");
  const line = `Deliveries have failed since ${since}. Each event is retried for 24 hours.`;
  return { kind: "deliveries", title: host, path: "/live/webhooks", lines: [line] };
}

function about({ entityId, entityName, externalId }: Pick<VendorChanged, "entityId" | "entityName" | "externalId">) {
  const name = entityName || "Vendor without a name";
  return {
    title: externalId ? `${name} (${externalId})` : name,
    path: `/live/vendors/${encodeURIComponent(entityId)}`,
  };
}

/** Returns the most serious kind of what changed. */
function kindOf(changes: Changes): NotificationKind {
  const some = (name: string, is: (current: string | undefined) => boolean) =>
    changes.some(({ field, current }) => field.endsWith(`.${name}`) && is(current));
  if (some("exclusion_effect", (current) => current !== undefined)) return "excluded";
  return some("status", (current) => current === "fail") ? "failed" : "changed";
}

/** A field of which neither value is given, such as a TIN, only changed. */
function lineOf({ field, previous, current }: Changes[number]): string {
  if (previous === undefined && current === undefined) return `${fieldTitle(field)}: changed`;
  return `${fieldTitle(field)}: ${valueText(field, previous)} → ${valueText(field, current)}`;
}
