import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { Db } from "mongodb";
import { outboxRows } from "./rows.ts";

/** Metrics of one database's outbox. */
export interface OutboxMetrics {
  relayed(count: number): void;
  /** Stops reporting. */
  close(): void;
}

export function createOutboxMetrics(db: Db): OutboxMetrics {
  const meter = metrics.getMeter("@vvs/outbox");
  const attributes = { database: db.databaseName };
  const relayed = meter.createCounter("outbox_relayed_records", { description: "Outbox rows that were published." });
  const oldestUnsent = meter.createObservableGauge("outbox_oldest_unsent_seconds", {
    description: "Age of the oldest unpublished row. Above some seconds: Kafka or the relays are unavailable.",
  });

  async function reportOldest(result: ObservableResult): Promise<void> {
    const oldest = await outboxRows(db)
      .findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } })
      .catch(() => undefined);
    if (oldest === undefined) return;
    const ageMs = oldest ? Date.now() - oldest._id.getTimestamp().getTime() : 0;
    result.observe(Math.max(0, ageMs / 1_000), attributes);
  }

  oldestUnsent.addCallback(reportOldest);
  return {
    relayed: (count) => relayed.add(count, attributes),
    close: () => oldestUnsent.removeCallback(reportOldest),
  };
}
