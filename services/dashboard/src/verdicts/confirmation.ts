import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Confirmations, ConfirmedRun as ConfirmedRunMessage } from "@vvs/proto/monitor/v1/monitor";

/** The scheduled checks of a monitor that found in stored data what its last run, a full check, had found. */
export interface Confirmation {
  readonly times: number;
  /** When the last of them was due. */
  readonly lastAt: Date;
  /** The dates of the data that it found; undefined where they are unknown. */
  readonly registration: Date | undefined;
  readonly exclusions: Date | undefined;
  /** When the full check was made. */
  readonly fullCheckAt: Date;
}

/** The full check of a monitor, and what its scheduled checks made of it. */
export interface ScheduledRun {
  readonly entityId: string;
  readonly monitorId: string;
  readonly verificationId: string;
  readonly outcome: CheckStatus;
  /** Undefined where no check confirmed it. */
  readonly confirmation: Confirmation | undefined;
  /** Since when checks confirm nothing, because the data is too old. */
  readonly staleSince: Date | undefined;
}

/** A run that scheduled checks confirmed. */
export type ConfirmedRun = ScheduledRun & { readonly confirmation: Confirmation };

export function confirmationOf(
  { times, lastAt, dataAsOf }: Pick<Confirmations, "times" | "lastAt" | "dataAsOf">,
  fullCheckAt: Date,
): Confirmation {
  const { registration, exclusions } = dataAsOf ?? {};
  return {
    times,
    lastAt: timestampDate(lastAt!),
    registration: registration && timestampDate(registration),
    exclusions: exclusions && timestampDate(exclusions),
    fullCheckAt,
  };
}

export function scheduledRunOf({ confirmed, at, staleSince, ...run }: ConfirmedRunMessage): ScheduledRun {
  return {
    ...run,
    confirmation: confirmed && confirmationOf(confirmed, timestampDate(at!)),
    staleSince: staleSince && timestampDate(staleSince),
  };
}

/** Returns the one of a vendor's runs that was confirmed last; undefined where none was. */
export function confirmedLast(runs: readonly ScheduledRun[]): ConfirmedRun | undefined {
  const isConfirmed = (run: ScheduledRun): run is ConfirmedRun => run.confirmation !== undefined;
  const lastAt = ({ confirmation }: ConfirmedRun) => confirmation.lastAt.getTime();
  return runs
    .filter(isConfirmed)
    .reduce<ConfirmedRun | undefined>((a, b) => (a && lastAt(a) >= lastAt(b) ? a : b), undefined);
}
