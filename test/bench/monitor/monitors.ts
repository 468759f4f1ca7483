import { newId } from "@vvs/ids";
import type { Db } from "mongodb";
import type { MonitorDocument } from "../../../services/monitor/src/model/monitor.ts";
import { collections } from "../../../services/monitor/src/store.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const PAGE = 5_000;

/** Stores daily monitors whose first run has ended. `dueAt` returns the due time of the monitor with an index. */
export async function insertMonitors(
  db: Db,
  options: {
    count: number;
    organizationId: (index: number) => string;
    /** A new id where absent. */
    entityId?: (index: number) => string;
    dueAt: (index: number) => Date;
    /** Their scheduled checks are made in bulk. */
    areStanding?: boolean;
  },
): Promise<void> {
  const { monitors } = collections(db);
  for (let from = 0; from < options.count; from += PAGE) {
    const indexes = Array.from({ length: Math.min(PAGE, options.count - from) }, (_, index) => from + index);
    const documents = indexes.map((index) => {
      const dueAt = options.dueAt(index);
      const monitor = monitorDue(options.organizationId(index), options.entityId?.(index) ?? newId("ent"), dueAt);
      const standing = { run_seq: 1, since: monitor.created_at, offset_ms: dueAt.getTime() % DAY_MS };
      return { ...monitor, ...(options.areStanding && { standing }) };
    });
    await monitors.insertMany(documents, { ordered: false });
  }
}

function monitorDue(organizationId: string, entityId: string, dueAt: Date): MonitorDocument {
  const createdAt = new Date(dueAt.getTime() - DAY_MS);
  return {
    _id: newId("mon"),
    organization_id: organizationId,
    entity_id: entityId,
    checks: ["sam_registration"],
    frequency: "daily",
    webhook_url: "https://example.com/hook",
    status: "active",
    created_at: createdAt,
    created_by: "key_of_the_import",
    created_as: { frequency: "daily", webhook_url: "https://example.com/hook", next_run_at: dueAt },
    run_seq: 1,
    last_due_at: createdAt,
    next_run_at: dueAt,
    claimable_at: dueAt,
    last_run: { run_seq: 1, at: createdAt, outcome: "pass", verification_id: newId("ver") },
    consecutive_errors: 0,
    event_count: 0,
  };
}
