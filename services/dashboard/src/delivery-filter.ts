import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@vvs/ids";
import { readFilter } from "./http/filter.ts";

/** What a list of deliveries is narrowed to, as its form holds it; empty: does not matter. */
export interface DeliveryFilter {
  readonly status: string;
  readonly monitor_id: string;
  readonly url: string;
  /** As datetime-local fields write times; here they are UTC. */
  readonly from: string;
  readonly to: string;
  /** "only" or empty. */
  readonly tests: string;
}

export type FilterField = keyof DeliveryFilter;
export type FilterProblems = Readonly<Partial<Record<FilterField, string>>>;

export const statuses = ["pending", "delivered", "failed"] as const;

const problems: Readonly<Record<FilterField, string>> = {
  status: "The state is pending, delivered or failed.",
  monitor_id: "The id of a monitor is mon_ and 26 letters and digits.",
  url: "The URL is a whole one, exactly as the monitor has it.",
  from: "The time is a date and a time of day, such as 2026-11-21T09:30.",
  to: "The time is a date and a time of day, such as 2026-11-21T09:30.",
  tests: "There are only tests to choose.",
};

const isRight: Readonly<Record<FilterField, (text: string) => boolean>> = {
  status: (text) => (statuses as readonly string[]).includes(text),
  monitor_id: (text) => isId("mon", text),
  url: (text) => /^https?:/i.test(text) && URL.canParse(text),
  from: (text) => utcTime(text) !== undefined,
  to: (text) => utcTime(text) !== undefined,
  tests: (text) => text === "only",
};

/** The filter that a query asks for. What is wrong is left out of it: it may be anything that was pasted by mistake. */
export function readDeliveryFilter(query: Readonly<Record<string, unknown>>): {
  filter: DeliveryFilter;
  problems: FilterProblems;
} {
  return readFilter(query, isRight, problems);
}

/** A filter as part of a link; what does not matter is left out. */
export function writeDeliveryFilter(filter: Partial<DeliveryFilter>): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/** The moment that a datetime-local field holds, read as UTC; undefined for anything else. */
export function utcTime(text: string): Timestamp | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = new Date(`${text}Z`);
  // Date accepts a 30th of February and means another day.
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return timestampFromDate(at);
}

/** A moment as a datetime-local field holds it, to the minute, in UTC. */
export function localTime(at: Date): string {
  return at.toISOString().slice(0, 16);
}
