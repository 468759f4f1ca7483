import { ConfigError } from "@vvs/config";
import { kafkaOptions, topicSettings } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { mongoOptions } from "@vvs/mongo";
import { loadMigrateConfig } from "./config.ts";
import { migrateAll } from "./migrate.ts";

try {
  const config = loadMigrateConfig();
  await migrateAll({
    mongodb: mongoOptions(config),
    databasePrefix: config.MONGODB_DATABASE_PREFIX,
    kafka: {
      ...kafkaOptions(config),
      clientId: "migrate",
      logger: createLogger({ service: "migrate", level: "warn" }),
    },
    topics: topicSettings(config),
  });
  console.log("Databases and topics are up to date.");
  process.exit(0);
} catch (error) {
  console.error(error instanceof ConfigError ? `The configuration can't be used:\n${error.message}` : error);
  process.exit(1);
}
