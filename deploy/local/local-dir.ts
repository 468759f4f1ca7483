import { join } from "node:path";
import { projectRoot } from "./services.ts";

/** Returns the folder of a local run's data, secrets, logs and description: VVS_LOCAL_DIR, else .local of the project. */
export function localDirectory(env: NodeJS.ProcessEnv): string {
  return env.VVS_LOCAL_DIR || join(projectRoot, ".local");
}
