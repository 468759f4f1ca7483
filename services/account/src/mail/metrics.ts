import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { Collection } from "mongodb";
import type { MailDocument } from "./queue.ts";

export interface MailMetrics {
  attempted(outcome: "sent" | "failed" | "given_up"): void;
  /** Stops reporting. */
  close(): void;
}

export function createMailMetrics(mails: Collection<MailDocument>): MailMetrics {
  const meter = metrics.getMeter("account");
  const attempts = meter.createCounter("account.mail_attempts", {
    description: "Attempts to send a mail by outcome; given_up ones were never received.",
  });
  const oldest = meter.createObservableGauge("account.mail_oldest_unsent_seconds", {
    description:
      "Age of the oldest unsent mail. Above some minutes, the SMTP server is away or refuses what it is sent.",
  });

  async function reportOldest(result: ObservableResult): Promise<void> {
    const found = await mails
      .findOne({}, { sort: { created_at: 1 }, projection: { created_at: 1 } })
      .catch(() => undefined);
    if (found === undefined) return;
    result.observe(found ? Math.max(0, Date.now() - found.created_at.getTime()) / 1_000 : 0);
  }

  oldest.addCallback(reportOldest);
  return {
    attempted: (outcome) => attempts.add(1, { outcome }),
    close: () => oldest.removeCallback(reportOldest),
  };
}
