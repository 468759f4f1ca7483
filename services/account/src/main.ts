import { runService } from "@vvs/lifecycle";
import { connectMongo, translateMongoError } from "@vvs/mongo";
import { AccountService } from "@vvs/proto/account/v1/account";
import { serveRpc, tlsFiles } from "@vvs/rpc";
import { loadAccountConfig } from "./config.ts";
import { createKeyFeed } from "./key-feed.ts";
import { createMailer, runMailer } from "./mail/mailer.ts";
import { createMailMetrics } from "./mail/metrics.ts";
import { createMailTransport } from "./mail/transport.ts";
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
    now,
  });
  const { mails, mailbox } = domain.store;
  const mailMetrics = createMailMetrics(mails);
  onClose("mail metrics", async () => mailMetrics.close());
  const mailer = createMailer({
    mails,
    keys: config.WEBHOOK_SECRET_KEYS,
    transport: createMailTransport({ config, mailbox, logger, now }),
    metrics: mailMetrics,
    logger,
    now,
  });
  const mailing = runMailer(mailer, logger);
  onClose("mailer", () => mailing.stop());

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
    beside: [
      createOrganizationPart({ domain }),
      createSingleSignOnPart({ domain, metrics, logger }),
      createPasskeyPart({ domain, metrics, logger }),
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
