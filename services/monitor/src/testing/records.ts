// The records that other services send about the runs of a monitor.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import {
  ChangeDetectedSchema,
  type CheckOutcomeSchema,
  type FieldChangeSchema,
  VerificationCompletedSchema,
} from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";

export interface Monitored {
  readonly tenant: Tenant;
  readonly id: string;
}

type Check = MessageInitShape<typeof CheckOutcomeSchema>;
type Change = MessageInitShape<typeof FieldChangeSchema>;

const ofRun = ({ tenant, id }: Monitored, seq: number) => ({
  tenant: toProtoTenant(tenant),
  run: { monitorId: id, runSeq: BigInt(seq) },
  verificationId: newId("ver"),
});

/** Returns the record of a run's verification, which passed unless said otherwise. */
export function completedRun(
  monitor: Monitored,
  { seq, at, ...more }: { seq: number; at: Date; overallResult?: CheckStatus; checks?: Check[] },
) {
  const { PASS: overallResult } = CheckStatus;
  const shared = { ...ofRun(monitor, seq), overallResult, createdAt: timestampFromDate(at) };
  return create(VerificationCompletedSchema, { ...shared, ...more });
}

/** Returns the record of a change that was found by a run. */
export function detectedChange(
  monitor: Monitored,
  { seq = 1, at, ...more }: { seq?: number; at: Date; changes?: Change[]; externalId?: string; entityName?: string },
) {
  const changes: Change[] = [{ field: "sam_registration.status", previous: "pass", current: "fail" }];
  const ids = { eventId: newId("evt"), entityId: newId("ent"), detectedAt: timestampFromDate(at) };
  return create(ChangeDetectedSchema, { ...ofRun(monitor, seq), ...ids, changes, ...more });
}
