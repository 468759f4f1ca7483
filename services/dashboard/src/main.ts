import { createAdmission } from "@vvs/fair-queue";
import { serveHttp } from "@vvs/http";
import { runService } from "@vvs/lifecycle";
import { clientsOf, tlsFiles } from "@vvs/rpc";
import { createApp } from "./app.ts";
import { loadDashboardConfig } from "./config.ts";
import { createClients, type Server } from "./page/clients.ts";

const NAME = "dashboard";

await runService(NAME, loadDashboardConfig, async ({ config, logger, onClose, stopping }) => {
  const connect = clientsOf({ caller: NAME, tls: tlsFiles(config), logger, onClose });
  const { ACCOUNT_ADDRESS: keys, ACCOUNT_PEOPLE_ADDRESS: people = keys } = config;
  const addresses: Readonly<Record<Server, string>> = {
    keys,
    people,
    dispatcher: config.WEBHOOK_DISPATCHER_ADDRESS,
    verification: config.VERIFICATION_ADDRESS,
    entity: config.ENTITY_ADDRESS,
    monitor: config.MONITOR_ADDRESS,
  };
  const clients = createClients((service, server) => connect(service, addresses[server]));
  const app = createApp({
    ...clients,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    url: config.DASHBOARD_URL,
    apiBaseUrl: config.PUBLIC_BASE_URL,
    trustedProxyHops: config.TRUSTED_PROXY_HOPS,
    localMailbox: config.LOCAL_MAILBOX,
    logger,
    now: () => new Date(),
  });
  const server = await serveHttp({
    listener: app,
    host: config.HTTP_HOST,
    port: config.HTTP_PORT,
    keepAliveSeconds: 620,
    maxConnections: 5_000,
    stopping,
  });
  onClose("http server", () => server.close());
  logger.info({ port: server.port }, "serving");
});
