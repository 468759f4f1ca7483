import { loadConfig, z } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { createKafka } from "./client.ts";
import { environmentVariables, kafkaOptions, kafkaSection } from "./config.ts";

// npm run redrive -- TOPIC: puts the records of <TOPIC>.dlq back into TOPIC, such as live.verification.requested.
const [topic] = process.argv.slice(2);
if (!topic) {
  console.error("Usage: npm run redrive -- TOPIC, such as live.verification.requested");
  process.exit(2);
}
try {
  const config = loadConfig(z.object(kafkaSection), environmentVariables());
  const logger = createLogger({ service: "redrive", level: "error" });
  const kafka = createKafka({ ...kafkaOptions(config), clientId: "redrive", logger });
  const count = await kafka.redrive(`${config.KAFKA_TOPIC_PREFIX}${topic}`);
  console.log(`${count} records of ${topic}.dlq put back into ${topic}`);
} catch (error) {
  console.error(`No more records could be put back: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
