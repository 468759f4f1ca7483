import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Check, type CheckStatus, checkOf, statusOf } from "@vvs/checks";
import type { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";

/** Returns the name of a check. Errors: a check that this gateway does not know. */
export function renderCheck(type: CheckType): Check {
  const name = checkOf(type);
  if (!name) throw new Error(`unknown check type ${type}`);
  return name;
}

/** Returns the name of a status. Errors: a status that this gateway does not know. */
export function renderStatus(status: ProtoCheckStatus): CheckStatus {
  const name = statusOf(status);
  if (!name) throw new Error(`unknown check status ${status}`);
  return name;
}

/** Returns a time as RFC 3339 in UTC with milliseconds, or undefined if absent. */
export function renderTime(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}
