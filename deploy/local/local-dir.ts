import { join } from "node:path";
import { projectRoot } from "./services.ts";

/** Where a local run keeps its data, secrets, logs and what tells of it: VVS_LOCAL_DIR, else .local of the project. */
export function localDirectory(env: NodeJS.ProcessEnv): string {
  return env.VVS_LOCAL_DIR || join(projectRoot, ".local");
}
