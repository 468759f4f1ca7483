import { metrics } from "@opentelemetry/api";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { Collection } from "mongodb";
import type { MailDocument } from "../model/mail.ts";

export type MailMetrics = ReturnType<typeof createMailMetrics>;

export function createMailMetrics(mails: Collection<MailDocument>, now: () => Date) {
  const meter = metrics.getMeter("account");
  const attempts = meter.createCounter("account.mail_attempts", {
    description: "Attempts to send an email, by outcome; those given up were never delivered.",
  });
  const oldest = meter.createObservableGauge("account.mail_oldest_unsent_seconds", {
    description:
      "Age of the oldest unsent email. More than a few minutes mean that the SMTP server is unavailable or rejects emails.",
  });
  const close = observeGauges(meter, [oldest], async (observe) => {
    const found = await mails.findOne({}, { sort: { created_at: 1 }, projection: { created_at: 1 } });
    observe(oldest, found ? Math.max(0, now().getTime() - found.created_at.getTime()) / 1_000 : 0);
  });
  return {
    attempted: (outcome: "sent" | "failed" | "given_up") => attempts.add(1, { outcome }),
    /** Stops reporting. */
    close,
  };
}
