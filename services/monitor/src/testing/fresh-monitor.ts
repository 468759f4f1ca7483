import type { MonitorDocument } from "../model/monitor.ts";

/** Returns a second of the minute in which the monitor was created. */
export const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 8, 0, second));
const createdAs = { frequency: "daily", webhook_url: "https://example.com/hook", next_run_at: at(15) } as const;
/** A daily monitor whose first run is open. */
export const fresh: MonitorDocument = {
  _id: "mon_1",
  organization_id: "org_1",
  entity_id: "ent_1",
  checks: ["sam_registration"],
  status: "active",
  created_at: at(0),
  created_by: "key_1",
  created_as: createdAs,
  ...createdAs,
  run_seq: 1,
  last_due_at: at(0),
  claimable_at: at(40),
  open_run: { run_seq: 1, claimed_at: at(0) },
  consecutive_errors: 0,
  event_count: 0,
};
