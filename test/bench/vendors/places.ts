import { isDeepStrictEqual } from "node:util";
import type { VendorFilter, VendorOrder, VendorPosition } from "@vvs/proto/entity/v1/vendors";
import { requestOf, shown, sorts } from "../../../services/dashboard/src/vendors/vendor-list.ts";
import type { Collections } from "../../../services/entity/src/model/documents.ts";
import { positionOf, vendorQueryOf } from "../../../services/entity/src/vendor-list/vendor-query.ts";

/** Vendors on a page: fewer than the dashboard shows, so that even the shortest list of 100 vendors has a whole page. */
export const PAGE = 20;
export const places = ["first", "middle", "last"] as const;
export type Place = (typeof places)[number];

/** A list that the dashboard offers: a filter in an order. */
export interface VendorList {
  /** As in the address of its page. */
  readonly name: string;
  readonly filter: VendorFilter;
  readonly days: number;
  readonly order: VendorOrder;
}

/** All lists that the dashboard offers; those in a fixed order once. */
export const lists: readonly VendorList[] = Object.keys(shown).flatMap((show) => {
  const all = Object.keys(sorts).map((sort) => ({
    name: `${show || "all"} by ${sort || "name"}`,
    days: 0,
    ...requestOf({ show, sort }),
  }));
  const isFixed = shown[show]!.order !== undefined;
  return isFixed ? [{ ...all[0]!, name: show }] : all;
});

/** Returns where each page of a list begins; the first one at no position. */
export async function positionsIn(
  { vendors }: Pick<Collections, "vendors">,
  organizationId: string,
  list: VendorList,
): Promise<Readonly<Record<Place, Pick<VendorPosition, "value" | "entityId"> | undefined>>> {
  const query = vendorQueryOf(list, new Date());
  const { tag, field, direction, from, before } = query;
  const range = { ...(from !== undefined && { $gte: from }), ...(before !== undefined && { $lt: before }) };
  const filter = {
    organization_id: organizationId,
    lists: tag,
    ...(!isDeepStrictEqual(range, {}) && { [field]: range }),
  };
  const total = await vendors.countDocuments(filter);
  if (total < PAGE) throw new Error(`${list.name}: ${total} vendors are no whole page`);
  const after = async (count: number) => {
    if (count === 0) return undefined;
    const [vendor] = await vendors
      .find(filter)
      .sort({ [field]: direction, entity_id: direction })
      .skip(count - 1)
      .limit(1)
      .toArray();
    return positionOf(vendor!, query);
  };
  return { first: undefined, middle: await after(Math.floor((total - PAGE) / 2)), last: await after(total - PAGE) };
}
