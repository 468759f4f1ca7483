import { isId } from "@vvs/ids";
import { VendorFilter, VendorOrder, type VendorPosition } from "@vvs/proto/entity/v1/vendors";
import { type ListFilter, readFilter } from "../http/filter.ts";
import { ProblemError } from "../http/problem.ts";

interface Shown {
  readonly text: string;
  readonly filter: VendorFilter;
  readonly days?: number;
  /** The order that this filter always has. */
  readonly order?: string;
}

const soonestFirst = "in the order of their expiration dates";

/** Which vendors the list can show, by the value in its address; "" shows all but archived ones. */
export const shown: Readonly<Record<string, Shown>> = {
  "": { text: "all", filter: VendorFilter.UNSPECIFIED },
  failed: { text: "failed", filter: VendorFilter.FAILED },
  excluded: { text: "excluded", filter: VendorFilter.EXCLUDED },
  error: { text: "without an answer", filter: VendorFilter.ERROR },
  expired: { text: "registration expired", filter: VendorFilter.EXPIRED, order: soonestFirst },
  "expiring-30": { text: "expires within 30 days", filter: VendorFilter.EXPIRING, days: 30, order: soonestFirst },
  "expiring-60": { text: "expires within 60 days", filter: VendorFilter.EXPIRING, days: 60, order: soonestFirst },
  "expiring-90": { text: "expires within 90 days", filter: VendorFilter.EXPIRING, days: 90, order: soonestFirst },
  unchecked: {
    text: "not checked for 30 days",
    filter: VendorFilter.NOT_CHECKED,
    days: 30,
    order: "the longest unchecked first",
  },
  monitored: { text: "monitored", filter: VendorFilter.MONITORED },
  unmonitored: { text: "not monitored", filter: VendorFilter.NOT_MONITORED },
  archived: { text: "archived", filter: VendorFilter.ARCHIVED },
};

/** The orders to choose from, by the value in the list's address. */
export const sorts: Readonly<Record<string, { readonly text: string; readonly order: VendorOrder }>> = {
  "": { text: "name", order: VendorOrder.UNSPECIFIED },
  checked: { text: "last check, newest first", order: VendorOrder.LAST_CHECK_NEWEST },
  unchecked: { text: "last check, oldest first", order: VendorOrder.LAST_CHECK_OLDEST },
  expiry: { text: "expiration date", order: VendorOrder.EXPIRY },
};

const fields = {
  show: { accepts: (text: string) => Object.hasOwn(shown, text), problem: "Choose one of the options." },
  sort: {
    // The name is the default, and may be named.
    accepts: (text: string) => text === "name" || Object.hasOwn(sorts, text),
    problem: "Choose one of the options.",
  },
};

export type VendorListFilter = ListFilter<keyof typeof fields>;

export const readVendorFilter = (query: Readonly<Record<string, unknown>>): VendorListFilter =>
  readFilter(query, fields);

/** Returns a filter as fields of the request to the entity service. */
export function requestOf({ show, sort }: VendorListFilter["filter"]) {
  const { filter, days } = shown[show]!;
  return { filter, order: (sorts[sort] ?? sorts[""])!.order, ...(days && { days }) };
}

type Place = Pick<VendorPosition, "value" | "entityId">;

/** Returns a place in the list as text for links. */
export const writePlace = ({ value, entityId }: Place): string => `${value}~${entityId}`;

/** Reads a place from a query parameter; undefined (the beginning of the list) if it is absent. Errors: ProblemError. */
export function readPlace(text: unknown): Place | undefined {
  if (text === undefined) return undefined;
  const [, value = "", entityId = ""] = (typeof text === "string" && /^(.*)~(ent_[^~]*)$/s.exec(text)) || [];
  if (!isId("ent", entityId)) throw new ProblemError("malformed");
  return { value, entityId };
}
