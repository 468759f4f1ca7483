import { count, loadConfig, serviceSection, z } from "@vvs/config";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...kafkaSection,
  /** Maximum number of live verifications compared at the same time. Each is a short transaction. */
  LIVE_CONCURRENCY: count(1).default(16),
  /** Maximum number of sandbox verifications compared at the same time. Separate, so that sandbox load cannot slow live. */
  SANDBOX_CONCURRENCY: count(1).default(8),
});

/** Reads the configuration from the environment. Errors: ConfigError that lists all problems. */
export const loadChangeDetectorConfig = () => loadConfig(schema, process.env);
