import { CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";

/** The outcome of a check or of a whole verification. `error` says nothing about the vendor: nothing answered. */
export type CheckStatus = "pass" | "fail" | "error";

const statuses: Readonly<Record<CheckStatus, ProtoCheckStatus>> = {
  pass: ProtoCheckStatus.PASS,
  fail: ProtoCheckStatus.FAIL,
  error: ProtoCheckStatus.ERROR,
};

/** Returns a status's number on gRPC and Kafka. */
export function toProtoStatus(status: CheckStatus): ProtoCheckStatus {
  return statuses[status];
}

/** Returns the status of a number, or undefined for one that only a newer version of the product knows. */
export function statusOf(value: ProtoCheckStatus): CheckStatus | undefined {
  return (Object.keys(statuses) as CheckStatus[]).find((name) => statuses[name] === value);
}
