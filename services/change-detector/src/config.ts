import { count, loadConfig, serviceSection, z } from "@vvs/config";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...kafkaSection,
  /** Live verifications compared at once; each is a short transaction. */
  LIVE_CONCURRENCY: count(1).default(16),
  /** The same for the sandbox, whose load never takes from live's. */
  SANDBOX_CONCURRENCY: count(1).default(8),
});

export type ChangeDetectorConfig = z.infer<typeof schema>;

/** Errors: ConfigError with all problems at once. */
export const loadChangeDetectorConfig = (): ChangeDetectorConfig => loadConfig(schema, process.env);
