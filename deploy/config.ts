import { environmentWithLocalRun, loadConfig, z } from "@vvs/config";
import { kafkaSection, kafkaTopicsSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";

const schema = z.object({ ...mongoSection, ...kafkaSection, ...kafkaTopicsSection });

/** What the migration step takes: the stores of the environment, or of the local run in this folder. */
export const loadMigrateConfig = (): z.infer<typeof schema> =>
  loadConfig(schema, environmentWithLocalRun(process.env, process.cwd()));
