import { expect, test } from "@jest/globals";
import { VendorFilter, VendorOrder } from "@vvs/proto/entity/v1/vendors";
import { vendorQueryOf } from "./vendor-query.ts";

test.each([
  ["2026-11-25T04:59:59Z", "2026-11-24", "2026-12-25"],
  ["2026-11-25T05:00:00Z", "2026-11-25", "2026-12-26"],
  ["2026-10-15T03:59:59Z", "2026-10-14", "2026-11-14"],
  ["2028-02-29T04:59:59Z", "2028-02-28", "2028-03-30"],
])("expiration dates are compared with Washington's day: at %s it is %s", (now, today, before) => {
  const query = (filter: VendorFilter) =>
    vendorQueryOf({ filter, days: 30, order: VendorOrder.UNSPECIFIED }, new Date(now));
  expect(query(VendorFilter.EXPIRED)).toMatchObject({ field: "expires_on", before: today });
  expect(query(VendorFilter.EXPIRING)).toMatchObject({ field: "expires_on", from: today, before });
});
