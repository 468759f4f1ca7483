import { runService } from "@vvs/lifecycle";
import { connectMongo, translateMongoError } from "@vvs/mongo";
import { AccountService } from "@vvs/proto/account/v1/account";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { loadAccountConfig } from "./config.ts";
import { createEntryPart } from "./entry-service.ts";
import { createKeyFeed } from "./key-feed.ts";
import { startMailing } from "./mail/start.ts";
import { createAccountMetrics } from "./metrics.ts";
import { createOrganizationPart } from "./organization-service.ts";
import { createPasskeyPart } from "./passkey-service.ts";
import { createAccountDomain } from "./provision.ts";
import { accountCallers, createAccountHandlers } from "./service.ts";
import { createSingleSignOnPart } from "./single-sign-on-service.ts";

await runService("account", loadAccountConfig, async ({ config, logger, onClose, stopping }) => {
  const client = await connectMongo({ uri: config.MONGODB_URI, service: "account", logger, stopping });
  onClose("mongodb", () => client.close());

  const now = () => new Date();
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
  const mailing = startMailing({ config, store: domain.store, logger, now });
  onClose("mailing", () => mailing.close());
  const metrics = createAccountMetrics();
  const keyFeed = createKeyFeed({
    store: domain.store,
    records: domain.keyRecords,
    logger,
    onWatchers: metrics.watchers,
  });

  const entry = createEntryPart({
    domain,
    signUpOpen: config.SIGN_UP_OPEN,
    mailSent: mailing.isConfigured,
    mailbox: mailing.mailbox,
    metrics,
    logger,
  });
  const server = await serveRpc({
    service: AccountService,
    handlers: createAccountHandlers({ domain, keyFeed, metrics, logger }),
    callers: accountCallers,
    beside: [
      createOrganizationPart({ domain }),
      createSingleSignOnPart({ domain, metrics, logger }),
      createPasskeyPart({ domain, metrics, logger }),
      entry,
    ],
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
