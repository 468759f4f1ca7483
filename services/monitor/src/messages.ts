import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType, toProtoStatus } from "@vvs/checks";
import { changeMessages } from "@vvs/kafka";
import {
  type ConfirmationsSchema,
  type ConfirmedRunSchema,
  type DataDatesSchema,
  type EventSchema,
  type MonitorSchema,
  RunCause,
  type RunSchema,
} from "@vvs/proto/monitor/v1/monitor";
import { protoFrequencies } from "./model/frequency.ts";
import type { Confirmed, DataDates, EventDocument, MonitorDocument } from "./model/monitor.ts";
import type { ConfirmedRun } from "./runs/confirmed-runs.ts";
import type { EndedRun } from "./runs/runs.ts";
import type { Positions } from "./sweep/positions.ts";
import { scheduledChecks } from "./sweep/standing.ts";

/** Returns a monitor as shown. Read the positions before it. */
export function monitorMessage(monitor: MonitorDocument, positions: Positions): MessageInitShape<typeof MonitorSchema> {
  const { last_run: lastRun } = monitor;
  const { nextAt, confirmed, staleSince } = scheduledChecks(monitor, positions.get(monitor.frequency));
  const dataAsOf = confirmed?.data_as_of ?? lastRun?.data_as_of;
  return {
    id: monitor._id,
    entityId: monitor.entity_id,
    checks: monitor.checks.map(toCheckType),
    frequency: protoFrequencies[monitor.frequency],
    webhookUrl: monitor.webhook_url,
    externalId: monitor.external_id,
    status: monitor.status,
    createdAt: timestampFromDate(monitor.created_at),
    lastRun: lastRun && {
      at: timestampFromDate(confirmed?.last_at ?? lastRun.at),
      outcome: toProtoStatus(lastRun.outcome),
      verificationId: lastRun.verification_id,
      dataAsOf: dataAsOf && datesMessage(dataAsOf),
    },
    nextRunAt: nextAt && timestampFromDate(nextAt),
    staleSince: staleSince && timestampFromDate(staleSince),
    consecutiveErrors: monitor.consecutive_errors,
  };
}

const protoCauses = {
  creation: RunCause.FIRST,
  schedule: RunCause.SCHEDULE,
  file: RunCause.FILE,
  expiry: RunCause.EXPIRY,
  exclusion: RunCause.EXCLUSION,
  answer: RunCause.ANSWER,
} as const;

/**
 * Returns a run of a monitor as shown. Runs that an older version claimed don't say why: of these the monitor's first counts as
 * such, others as scheduled. Read the positions before the monitor.
 */
export function runMessage(
  run: EndedRun,
  monitor: MonitorDocument,
  positions: Positions,
): MessageInitShape<typeof RunSchema> {
  const isLast = run.run_seq === monitor.last_run?.run_seq;
  const { confirmed } = isLast ? scheduledChecks(monitor, positions.get(monitor.frequency)) : run;
  const { ended_at, outcome, verification_id, run_seq, cause = run_seq === 1 ? "creation" : "schedule" } = run;
  return {
    at: timestampFromDate(ended_at),
    outcome: toProtoStatus(outcome),
    verificationId: verification_id,
    cause: protoCauses[cause],
    confirmed: confirmed && confirmationsMessage(confirmed),
  };
}

export function confirmedRunMessage({
  monitor,
  run,
  confirmed,
  staleSince,
}: ConfirmedRun): MessageInitShape<typeof ConfirmedRunSchema> {
  return {
    entityId: monitor.entity_id,
    monitorId: monitor._id,
    verificationId: run.verification_id,
    outcome: toProtoStatus(run.outcome),
    at: timestampFromDate(run.ended_at),
    confirmed: confirmed && confirmationsMessage(confirmed),
    staleSince: staleSince && timestampFromDate(staleSince),
  };
}

function confirmationsMessage({ times, last_at, data_as_of }: Confirmed): MessageInitShape<typeof ConfirmationsSchema> {
  return { times, lastAt: timestampFromDate(last_at), dataAsOf: data_as_of && datesMessage(data_as_of) };
}

function datesMessage({ registration, exclusions }: DataDates): MessageInitShape<typeof DataDatesSchema> {
  return {
    registration: registration && timestampFromDate(registration),
    exclusions: exclusions && timestampFromDate(exclusions),
  };
}

export function eventMessage(event: EventDocument): MessageInitShape<typeof EventSchema> {
  return {
    id: event._id,
    monitorId: event.monitor_id,
    entityId: event.entity_id,
    changes: changeMessages(event.changes),
    verificationId: event.verification_id,
    detectedAt: timestampFromDate(event.created_at),
    externalId: event.external_id,
  };
}
