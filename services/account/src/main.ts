import { runService } from "@vvs/lifecycle";
import { connectMongo, translateMongoError } from "@vvs/mongo";
import { AccountService } from "@vvs/proto/account/v1/account";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { loadAccountConfig } from "./config.ts";
import { createKeyFeed } from "./key-feed.ts";
import { createAccountMetrics } from "./metrics.ts";
import { createAccountDomain } from "./provision.ts";
import { accountCallers, createAccountHandlers } from "./service.ts";

await runService("account", loadAccountConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "account", logger, stopping });
  onClose("mongodb", () => client.close());

  const domain = createAccountDomain({
    client,
    prefix: config.MONGODB_DATABASE_PREFIX,
    apiKeyPeppers: config.API_KEY_PEPPERS,
    webhookSecretKeys: config.WEBHOOK_SECRET_KEYS,
    now: () => new Date(),
  });
  const metrics = createAccountMetrics();
  const keyFeed = createKeyFeed({
    store: domain.store,
    records: domain.keyRecords,
    logger,
    onWatchers: metrics.watchers,
  });

  const server = await serveRpc({
    service: AccountService,
    handlers: createAccountHandlers({ domain, keyFeed, metrics, logger }),
    callers: accountCallers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls: tlsFiles(config),
    logger,
    translate: translateMongoError,
  });
  onClose("grpc server", () => server.close());
  onClose("key feed", () => keyFeed.close());
  logger.info({ port: server.port }, "serving");
});
