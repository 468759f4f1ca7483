import { createAdmission } from "@vvs/fair-queue";
import { runService } from "@vvs/lifecycle";
import { connectMongo, databaseClock, mongoOptions, pingMongo, translateMongoError } from "@vvs/mongo";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { keysServices, peopleServices } from "./api/api.ts";
import { createKeyFeed } from "./api-keys/key-feed.ts";
import { loadAccountConfig, processName, servedParts } from "./config.ts";
import { createKeysDomain, createPeopleDomain, createSharedDomain } from "./domain.ts";
import { startMailing } from "./mailing.ts";
import { createAccountMetrics } from "./metrics.ts";
import { runKeyReminders } from "./notifications/key-reminders.ts";
import { runNotificationSender } from "./notifications/sender.ts";
import { runSandboxRetention } from "./request-log/sandbox-retention.ts";

await runService(processName(), loadAccountConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ ...mongoOptions(config), service: "account", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });
  const metrics = createAccountMetrics();
  const shared = createSharedDomain({
    client,
    prefix: config.MONGODB_DATABASE_PREFIX,
    webhookSecretKeys: config.WEBHOOK_SECRET_KEYS,
    dashboardUrl: config.DASHBOARD_URL,
    now,
  });

  /** Serves keys, secrets and usage, and follows changes of keys for gateways. */
  function startKeys() {
    const domain = createKeysDomain(shared, config.API_KEY_PEPPERS!);
    const { store, keyRecords: records } = domain;
    const retention = runSandboxRetention({ store, newest: config.SANDBOX_KEPT_REQUESTS, now, stopping, logger });
    onClose("sandbox retention", () => retention.ended());
    const keyFeed = createKeyFeed({ store, records, logger, onWatchers: metrics.watchers });
    return { services: keysServices({ domain, keyFeed }), endWatches: () => keyFeed.close() };
  }

  /** Serves people, hashes their passwords, and sends the emails that both parts queue. */
  function startPeople() {
    const { IDENTITY_PROVIDERS: identityProviders, SIGN_UP_OPEN: signUpOpen } = config;
    const domain = createPeopleDomain(shared, { identityProviders, signUpOpen });
    const mailing = startMailing({ config, store: domain.store, logger, now });
    onClose("mailing", () => mailing.close());
    const sending = runNotificationSender({ send: domain.sendNotifications, stopping, logger });
    onClose("notification sender", () => sending.ended());
    const reminding = runKeyReminders({ remind: domain.remindOfKeys, stopping, logger });
    onClose("key reminders", () => reminding.ended());
    return { services: peopleServices({ domain, mailing, signUpOpen, metrics, logger }) };
  }

  const parts = servedParts(config);
  const keys = parts.has("keys") ? startKeys() : undefined;
  const people = parts.has("people") ? startPeople() : undefined;
  const [first, ...beside] = [...(keys?.services ?? []), ...(people?.services ?? [])];
  const server = await serveRpc({
    ...first!,
    beside,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls: tlsFiles(config),
    logger,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    translate: translateMongoError,
    ping: pingMongo(client),
  });
  onClose("grpc server", () => server.close());
  onClose("watches of keys", () => keys?.endWatches());
  logger.info({ port: server.port, parts: [...parts] }, "serving");
});
