import { createAdmission } from "@vvs/fair-queue";
import { serveHttp } from "@vvs/http";
import { runService } from "@vvs/lifecycle";
import { createClient, tlsFiles } from "@vvs/rpc";
import { createApp } from "./app.ts";
import { loadDashboardConfig } from "./config.ts";
import { createClients, type Server } from "./page/clients.ts";

const NAME = "dashboard";

await runService(NAME, loadDashboardConfig, async ({ config, logger, onClose, stopping }) => {
  const shared = { caller: NAME, tls: tlsFiles(config), logger };
  const { ACCOUNT_ADDRESS: keys, ACCOUNT_PEOPLE_ADDRESS: people = keys } = config;
  const addresses: Readonly<Record<Server, string>> = {
    keys,
    people,
    dispatcher: config.WEBHOOK_DISPATCHER_ADDRESS,
    verification: config.VERIFICATION_ADDRESS,
    entity: config.ENTITY_ADDRESS,
    monitor: config.MONITOR_ADDRESS,
  };
  const clients = createClients((service, server) => {
    const client = createClient(service, { ...shared, address: addresses[server] });
    onClose(`${service.typeName} client`, () => client.close());
    return client;
  });
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
