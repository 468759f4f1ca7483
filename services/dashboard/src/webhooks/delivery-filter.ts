import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@vvs/ids";
import { readFilter } from "../http/filter.ts";

/** The filter of the list of deliveries, as its form holds it; empty fields do not filter. */
export interface DeliveryFilter {
  readonly status: string;
  readonly monitor_id: string;
  readonly url: string;
  /** Times in the format of datetime-local fields, in UTC. */
  readonly from: string;
  readonly to: string;
  /** "only" or empty. */
  readonly tests: string;
}

export type FilterField = keyof DeliveryFilter;
export type FilterProblems = Readonly<Partial<Record<FilterField, string>>>;

export const statuses = ["pending", "delivered", "failed"] as const;

const problems: Readonly<Record<FilterField, string>> = {
  status: "Choose pending, delivered or failed.",
  monitor_id: "Enter a monitor ID: mon_ followed by 26 letters and digits.",
  url: "Enter the whole URL, exactly as it is set in the monitor.",
  from: "Enter a date and a time, such as 2026-11-21T09:30.",
  to: "Enter a date and a time, such as 2026-11-21T09:30.",
  tests: "Tick or clear “Only test events”.",
};

const isRight: Readonly<Record<FilterField, (text: string) => boolean>> = {
  status: (text) => (statuses as readonly string[]).includes(text),
  monitor_id: (text) => isId("mon", text),
  url: (text) => /^https?:/i.test(text) && URL.canParse(text),
  from: (text) => utcTime(text) !== undefined,
  to: (text) => utcTime(text) !== undefined,
  tests: (text) => text === "only",
};

/** Reads the filter from a query. Invalid values are left out, because they may be secrets pasted by mistake. */
export function readDeliveryFilter(query: Readonly<Record<string, unknown>>): {
  filter: DeliveryFilter;
  problems: FilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** Returns a filter as query parameters; empty fields are left out. */
export function writeDeliveryFilter(filter: Partial<DeliveryFilter>): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/** Parses the value of a datetime-local field as UTC; undefined if it is malformed. */
export function utcTime(text: string): Timestamp | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = new Date(`${text}Z`);
  // Date accepts February 30 and turns it into another day.
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return timestampFromDate(at);
}

/** Formats a time as a datetime-local field expects it, to the minute, in UTC. */
export function localTime(at: Date): string {
  return at.toISOString().slice(0, 16);
}
