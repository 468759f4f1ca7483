import { runService } from "@vvs/lifecycle";
import { connectMongo, databaseClock, pingMongo, translateMongoError } from "@vvs/mongo";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { createServices } from "./api.ts";
import { createKeyFeed } from "./api-keys/key-feed.ts";
import { loadAccountConfig } from "./config.ts";
import { createAccountDomain } from "./domain.ts";
import { startMailing } from "./mail/start.ts";
import { createAccountMetrics } from "./metrics.ts";

await runService("account", loadAccountConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "account", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });

  const domain = createAccountDomain({
    client,
    prefix: config.MONGODB_DATABASE_PREFIX,
    apiKeyPeppers: config.API_KEY_PEPPERS,
    webhookSecretKeys: config.WEBHOOK_SECRET_KEYS,
    identityProviders: config.IDENTITY_PROVIDERS,
    dashboardUrl: config.DASHBOARD_URL,
    signUpOpen: config.SIGN_UP_OPEN,
    now,
  });
  // Other processes may have no mail server, and would give up the emails.
  const sendsMail = config.RPC_SERVICES.includes("EntryService");
  const mailing = sendsMail ? startMailing({ config, store: domain.store, logger, now }) : undefined;
  onClose("mailing", () => mailing?.close());
  const metrics = createAccountMetrics();
  const keyFeed = createKeyFeed({
    store: domain.store,
    records: domain.keyRecords,
    logger,
    onWatchers: metrics.watchers,
  });

  const { RPC_SERVICES: names, SIGN_UP_OPEN: signUpOpen } = config;
  const [first, ...beside] = createServices({ names, domain, keyFeed, mailing, signUpOpen, metrics, logger });
  const server = await serveRpc({
    ...first!,
    beside,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls: tlsFiles(config),
    logger,
    translate: translateMongoError,
    ping: pingMongo(client),
  });
  onClose("grpc server", () => server.close());
  onClose("key feed", () => keyFeed.close());
  logger.info({ port: server.port, services: config.RPC_SERVICES }, "serving");
});
