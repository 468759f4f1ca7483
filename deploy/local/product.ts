import { createLogger } from "@vvs/logging";
import { migrateAll } from "../migrate.ts";
import { loadRegistry } from "./registry.ts";
import type { LocalSecrets } from "./secrets.ts";
import type { Servers } from "./servers/index.ts";
import { type RunningServices, type ServicesOptions, startServices } from "./services.ts";

export interface ProductOptions
  extends Pick<ServicesOptions, "providers" | "apiPort" | "dashboardPort" | "logDir" | "onLine" | "onCrash"> {
  readonly servers: Pick<Servers, "mongodbUri" | "kafkaBrokers" | "redisUrl">;
  readonly secrets: LocalSecrets;
  /** Prefix of databases and of keys in Redis, so that several runs can share servers. */
  readonly prefix: string;
  /** Prefix of topics. */
  readonly topicPrefix: string;
  /** Variables in addition to those of a local run. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files to load into live before services start. */
  readonly registry?: string | undefined;
  readonly exclusions?: string | undefined;
  /** Called with a line for each step. */
  readonly log: (line: string) => void;
}

export interface Product {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** All variables of this run, including secrets, for operators' commands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly services: RunningServices;
  stop(): Promise<void>;
}

/** Runs the product on given servers: migrates, loads files, starts all services. Errors: StartError; nothing stays running. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { servers, prefix, topicPrefix, secrets, log } = options;
  const baseUrl = `http://127.0.0.1:${options.apiPort}`;
  const dashboardUrl = `http://localhost:${options.dashboardPort}`;
  const environment: Record<string, string> = {
    MONGODB_URI: servers.mongodbUri,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: servers.kafkaBrokers.join(","),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    REDIS_URL: servers.redisUrl,
    REDIS_KEY_PREFIX: prefix,
    PUBLIC_BASE_URL: baseUrl,
    DASHBOARD_URL: dashboardUrl,
    // A developer's webhook endpoint runs on this machine.
    WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
    // No email is sent to addresses that a developer tries out.
    LOCAL_MAILBOX: "true",
    SIGN_UP_OPEN: "true",
    LOG_LEVEL: process.env.LOG_LEVEL || "info",
    ...options.environment,
  };
  log("Preparing databases and topics ...");
  await migrateAll({
    mongodb: { uri: servers.mongodbUri },
    databasePrefix: prefix,
    kafka: {
      brokers: [...servers.kafkaBrokers],
      clientId: "migrate",
      topicPrefix,
      logger: createLogger({ service: "migrate", level: "warn" }),
    },
  });
  await loadRegistry({
    registry: options.registry,
    exclusions: options.exclusions,
    environment: { ...environment, ...secrets },
    log,
  });
  log("Starting services ...");
  const services = await startServices({ ...options, environment, secrets });
  const all = { ...environment, ...services.addresses, ...secrets };
  return { baseUrl, dashboardUrl, environment: all, services, stop: services.stop };
}
