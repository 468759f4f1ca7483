import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Db } from "mongodb";
import { createOldestRowMs } from "./rows.ts";

/** Creates the metrics of one database's outbox; `close` stops reporting. */
export function createOutboxMetrics(db: Db) {
  const meter = metrics.getMeter("@vvs/outbox");
  const oldestRowMs = createOldestRowMs(db);
  const attributes = { database: db.databaseName };
  const relayed = meter.createCounter("outbox_relayed_records", { description: "Outbox rows that were published." });
  const oldestUnsent = meter.createObservableGauge("outbox_oldest_unsent_seconds", {
    description:
      "Age of the oldest unpublished row. Above some seconds: Kafka or the relays are unavailable. NaN: it cannot be read.",
  });
  return {
    relayed: (count: number) => relayed.add(count, attributes),
    close: observeGauges(meter, [oldestUnsent], async (observe) =>
      observe(oldestUnsent, (await oldestRowMs()) / 1_000, attributes),
    ),
  };
}
