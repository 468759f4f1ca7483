// Shared by the tests of the sweep: replicas that sweep, and monitors that stand.
import { newId } from "@vvs/ids";
import { shardOf } from "@vvs/outbox";
import { type Frequency, periodsMs } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import type { Finding, Judge } from "../sweep/judge.ts";
import { createSweep } from "../sweep/sweep.ts";
import { RUN_TIMEOUT_MS, type TestDomain } from "./domain.ts";

const dataAsOf = { registration: new Date("2026-03-01"), exclusions: new Date("2026-03-02") };

/** A replica that sweeps. Its judge finds what the test sets, and the same where it sets nothing; or the test brings its own. */
export function replicaOf(domain: TestDomain, ownJudge?: Judge) {
  const findings = new Map<string, Finding>();
  const judged: MonitorDocument[] = [];
  const replica = {
    domain,
    findings,
    /** The monitors that were judged, in order. */
    judged,
    isOverdue: false,
    held: [shardOf("sweep")],
    /** Called before monitors are judged. */
    beforeJudging: async () => undefined as unknown,
    sweep: async () => false,
  };
  const judge: Judge = async (monitors) => {
    await replica.beforeJudging();
    judged.push(...monitors);
    const found = monitors.map(({ _id }) => findings.get(_id) ?? (replica.isOverdue ? "overdue" : "same"));
    return { findings: found, isOverdue: replica.isOverdue, dataAsOf };
  };
  const { standing, positions, clock, suspended } = domain;
  replica.sweep = createSweep({
    ...{ standing, positions, judge: ownJudge ?? judge, runTimeoutMs: RUN_TIMEOUT_MS },
    metrics: { checked: () => undefined },
    leases: { held: () => replica.held },
    isSuspended: (organizationId) => suspended.has(organizationId),
    now: () => clock.at,
  });
  return replica;
}

/** Sweeps until there is nothing more to do. */
export async function sweepAll({ sweep }: { sweep: () => Promise<boolean> }): Promise<void> {
  while (await sweep());
}

/** Returns a monitor that stands since a time, as two real runs leave it, with the time of its next scheduled check. */
export function standingMonitor(options: {
  id?: string;
  organizationId: string;
  entityId?: string;
  frequency: Frequency;
  since: Date;
  nextRunAt: Date;
  digest?: string;
}): MonitorDocument {
  const { id: _id = newId("mon"), organizationId, entityId: entity_id = newId("ent"), digest = "aa" } = options;
  const { frequency, since, nextRunAt: next_run_at } = options;
  return {
    ...{ _id, organization_id: organizationId, entity_id, checks: ["sam_registration"], frequency },
    ...{ status: "active", created_at: since, created_by: "key_1", created_as: { frequency, next_run_at } },
    ...{ run_seq: 2, last_due_at: since, next_run_at, claimable_at: next_run_at },
    ...{ consecutive_errors: 0, event_count: 0 },
    last_run: {
      ...{ run_seq: 2, at: since, outcome: "pass", verification_id: `ver_${_id}`, digest },
      data_as_of: { registration: new Date("2026-01-01"), exclusions: since },
    },
    standing: { run_seq: 2, since, offset_ms: next_run_at.getTime() % periodsMs[frequency] },
  };
}
