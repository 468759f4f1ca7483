import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Returns a time as RFC 3339 in UTC with milliseconds, or undefined if absent. */
export function renderTime(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}
