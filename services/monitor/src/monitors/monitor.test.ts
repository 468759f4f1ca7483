import { expect, test } from "@jest/globals";
import { asCreated, type MonitorDocument } from "./monitor.ts";

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 8, 0, second));
const createdAs = { frequency: "daily", webhook_url: "https://example.com/hook", next_run_at: at(15) } as const;
const fresh: MonitorDocument = {
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

test("a repeated creation gets the answer of the first", () => {
  const later: MonitorDocument = {
    ...fresh,
    last_run: { run_seq: 1, at: at(1), outcome: "error", verification_id: "ver_1" },
    consecutive_errors: 1,
    status: "canceled",
    canceled_at: at(50),
    frequency: "weekly",
    webhook_url: "https://example.com/other",
    next_run_at: undefined,
  };
  expect(asCreated(later)).toMatchObject({ ...createdAs, status: "active", consecutive_errors: 0 });
  expect(asCreated(later).last_run).toBeUndefined();
});
