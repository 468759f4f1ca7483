import { createClient } from "@vendor-verification/client";
import { runService } from "@vvs/lifecycle";
import { startCanary } from "./canary.ts";
import { loadCanaryConfig } from "./config.ts";
import { serveReceiver } from "./receiver.ts";

/** Within the first hour of a sandbox monitor, in which it runs each minute. */
const RENEW_MS = 50 * 60 * 1_000;

await runService("canary", loadCanaryConfig, async ({ config, logger, onClose, stopping }) => {
  const canary = startCanary({
    client: createClient({ apiKey: config.CANARY_API_KEY, baseUrl: config.API_BASE_URL }),
    webhookUrl: config.CANARY_WEBHOOK_URL,
    secrets: config.CANARY_WEBHOOK_SECRETS,
    frequency: "monthly",
    renewMs: RENEW_MS,
    now: () => new Date(),
    stopping,
    logger,
  });
  onClose("canary", () => canary.close());
  const receiver = await serveReceiver({ ...canary, host: config.HTTP_HOST, port: config.HTTP_PORT });
  onClose("receiver", () => receiver.close());
  logger.info({ port: receiver.port }, "receiving");
});
