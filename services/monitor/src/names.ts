import { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";
import type { Check, CheckStatus } from "./monitor.ts";
import type { Frequency } from "./schedule.ts";

// Words are stored, so that documents read for themselves; numbers travel.
const checks = { sam_registration: CheckType.SAM_REGISTRATION, tin_match: CheckType.TIN_MATCH } as const;
const statuses = { pass: ProtoCheckStatus.PASS, fail: ProtoCheckStatus.FAIL, error: ProtoCheckStatus.ERROR } as const;
const frequencies = {
  hourly: ProtoFrequency.HOURLY,
  daily: ProtoFrequency.DAILY,
  weekly: ProtoFrequency.WEEKLY,
  monthly: ProtoFrequency.MONTHLY,
} as const;

export const toProtoCheck = (check: Check): CheckType => checks[check];
export const toProtoStatus = (status: CheckStatus): ProtoCheckStatus => statuses[status];
export const toProtoFrequency = (frequency: Frequency): ProtoFrequency => frequencies[frequency];

/** Undefined where the number names none. */
export const checkOf = (value: CheckType) => nameOf(checks, value);
export const statusOf = (value: ProtoCheckStatus) => nameOf(statuses, value);
export const frequencyOf = (value: ProtoFrequency) => nameOf(frequencies, value);

function nameOf<N extends string>(names: Readonly<Record<N, number>>, value: number): N | undefined {
  return (Object.keys(names) as N[]).find((name) => names[name] === value);
}
