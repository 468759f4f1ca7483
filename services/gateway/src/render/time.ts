import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** RFC 3339 in UTC with milliseconds; undefined where there is none. */
export function renderTime(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}
