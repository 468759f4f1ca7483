import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import {
  type GetProviderHealthRequest,
  HealthInterval,
  type ProviderHealthSchema,
} from "@vvs/proto/verification/v1/provider_health";
import type { HistoryRange, ProviderHistory } from "./provider-history.ts";

const INTERVALS = { [HealthInterval.HOUR]: "hour", [HealthInterval.DAY]: "day" } as const;

/** Parses the range of a request. Errors: invalid_request where it lacks a time or its interval. */
export function historyRangeOf(request: GetProviderHealthRequest): HistoryRange {
  const { from, to, interval } = request;
  if (interval === HealthInterval.UNSPECIFIED || !(interval in INTERVALS)) {
    throw new ServiceError("invalid_request", { message: "Health is read by hour or by day." });
  }
  return { from: timeOf(from), to: timeOf(to), interval: INTERVALS[interval] };
}

/** Returns a provider's history as a message. */
export function toProviderHealth(past: ProviderHistory): MessageInitShape<typeof ProviderHealthSchema> {
  return {
    provider: past.provider,
    checkType: toCheckType(past.check),
    overall: past.overall,
    periods: past.periods.map(({ at, figures }) => ({ at: timestampFromDate(at), figures })),
  };
}

function timeOf(time: Timestamp | undefined): Date {
  if (!time) throw new ServiceError("invalid_request", { message: "The call lacks a time." });
  return timestampDate(time);
}
