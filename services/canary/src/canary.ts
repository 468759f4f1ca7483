import { metrics } from "@opentelemetry/api";
import { type Client, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from "@vendor-verification/client";
import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";

/** The sandbox's vendor that changes at every run. */
const CHANGING_UEI = "SANDBXCHNGE1";
/** Maximum number of monitors that are looked through for those of an earlier process. */
const LOOKED_THROUGH = 100;

export interface CanaryOptions {
  readonly client: Pick<Client, "lookup" | "createMonitor" | "cancelMonitor" | "listMonitors">;
  readonly webhookUrl: string;
  readonly secrets: readonly string[];
  /** Of its monitors. During the first hour of a sandbox monitor even the rarest runs each minute. */
  readonly frequency: "hourly" | "monthly";
  /** After this time the monitor is replaced by a new one, which runs fast again; in milliseconds. */
  readonly renewMs: number;
  readonly now: () => Date;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

export type Canary = ReturnType<typeof startCanary>;

/**
 * Keeps one monitor of a vendor that always changes, and notes the changes that are delivered to it with a valid signature. So
 * it proves the whole path: API, run, verification, detection, delivery.
 */
export function startCanary(options: CanaryOptions) {
  const { client, webhookUrl, secrets, frequency, renewMs, now, stopping, logger } = options;
  /** Ids of its newest monitors. The one before the newest may still deliver. */
  let mine: string[] = [];
  let newestDetectedAt: number | undefined;

  async function renew(): Promise<number> {
    // Those that an earlier process or a failure left count against the limit of active monitors.
    const { monitors } = await client.listMonitors({ limit: LOOKED_THROUGH });
    for (const monitor of monitors)
      if (monitor.id !== mine[0] && monitor.webhook_url === webhookUrl) await client.cancelMonitor(monitor.id);
    const found = await client.lookup({ identifiers: { uei: CHANGING_UEI } });
    if ("candidates" in found) throw new Error(`${CHANGING_UEI} is ambiguous`);
    const { id } = await client.createMonitor({
      entity_id: found.id,
      checks: ["sam_registration"],
      frequency,
      webhook_url: webhookUrl,
    });
    mine = [id, ...mine].slice(0, 2);
    if (mine[1]) await client.cancelMonitor(mine[1]);
    logger.info({ monitor_id: id }, "the canary has a new monitor");
    return renewMs;
  }

  const loop = superviseLoop({
    round: renew,
    failure: "the canary's monitor can't be created; retrying",
    recovery: "the canary's monitor is created again",
    backoff: { firstMs: 5_000, longestMs: 60_000 },
    stopping,
    logger,
  });

  const meter = metrics.getMeter("canary");
  const deliveries = meter.createCounter("canary_deliveries", {
    description: "Webhooks that the canary received, by result (valid, refused: the signature is wrong or too old).",
  });
  const age = meter.createObservableGauge("canary_last_delivery_age_seconds", {
    description:
      "Time since the newest change was detected that reached the canary with a valid signature; missing before the first one. There is a change each minute: above 10 minutes, a step between a monitor's run and its delivery does not work.",
    unit: "s",
  });
  const observe: Parameters<typeof age.addCallback>[0] = (result) => {
    if (newestDetectedAt !== undefined) result.observe(Math.max(0, now().getTime() - newestDetectedAt) / 1_000);
  };
  age.addCallback(observe);

  return {
    /** Notes a webhook. Returns whether it was signed with one of the secrets. */
    async receive(body: Uint8Array, headers: WebhookHeaders): Promise<boolean> {
      try {
        const { payload } = await verifyWebhook(body, headers, secrets, { now });
        deliveries.add(1, { result: "valid" });
        if (mine.includes(payload.monitor_id))
          for (const { detected_at } of payload.changes)
            newestDetectedAt = Math.max(newestDetectedAt ?? 0, Date.parse(detected_at));
        return true;
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        deliveries.add(1, { result: "refused" });
        logger.warn({ reason: error.reason }, "a webhook was not signed with the canary's secret");
        return false;
      }
    },
    /** Ends it; its monitor stays and is canceled by the next process. */
    async close(): Promise<void> {
      age.removeCallback(observe);
      await loop.ended();
    },
  };
}
