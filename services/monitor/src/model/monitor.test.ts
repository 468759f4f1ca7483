import { expect, test } from "@jest/globals";
import { at, createdAs, fresh } from "../testing/fresh-monitor.ts";
import { asCreated, type MonitorDocument } from "./monitor.ts";

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
