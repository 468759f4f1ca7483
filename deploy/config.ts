import { environmentWithLocalRun, loadConfig, z } from "@vvs/config";
import { kafkaSection, kafkaTopicsSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";

const schema = z.object({ ...mongoSection, ...kafkaSection, ...kafkaTopicsSection });

/** Loads the migration's configuration: the stores named by the environment, or those of the local run in this folder. */
export const loadMigrateConfig = (): z.infer<typeof schema> =>
  loadConfig(schema, environmentWithLocalRun(process.env, process.cwd()));
