import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@vvs/ids";
import { type FilterField, type ListFilter, readFilter } from "../http/filter.ts";

/** The states to choose from, by their values in addresses. */
export const statuses = { pending: "pending", delivered: "delivered", failed: "failing" } as const;

/** A time in the format of datetime-local fields, in UTC. */
export const timeField: FilterField = {
  accepts: (text) => utcTime(text) !== undefined,
  problem: "Enter a date and a time, such as 2026-11-21T09:30.",
};

const deliveryFields = {
  status: {
    accepts: (text: string) => text === "failing" || Object.hasOwn(statuses, text),
    problem: "Choose pending, delivered or failing.",
  },
  event_id: {
    accepts: (text: string) => isId("evt", text),
    problem: "Enter an event ID: evt_ followed by 26 letters and digits.",
  },
  monitor_id: {
    accepts: (text: string) => isId("mon", text),
    problem: "Enter a monitor ID: mon_ followed by 26 letters and digits.",
  },
  url: {
    accepts: (text: string) => /^https?:/i.test(text) && URL.canParse(text),
    problem: "Enter the whole URL, exactly as it is set in the monitor.",
  },
  from: timeField,
  to: timeField,
  tests: { accepts: (text: string) => text === "only", problem: "Tick or clear “Only test events”." },
};

export type DeliveryFilter = ListFilter<keyof typeof deliveryFields>;

export const readDeliveryFilter = (query: Readonly<Record<string, unknown>>): DeliveryFilter =>
  readFilter(query, deliveryFields);

const { monitor_id, url } = deliveryFields;
const replayFields = { since: timeField, monitor_id, url };

/** The choice of failed deliveries to replay. */
export type ReplayChoice = ListFilter<keyof typeof replayFields>;

export const readReplayChoice = (form: Readonly<Record<string, unknown>>): ReplayChoice =>
  readFilter(form, replayFields);

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
