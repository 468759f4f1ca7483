import { join } from "node:path";
import { nodeEnvironment, runProcess } from "./processes.ts";
import { StartError } from "./servers/start-error.ts";
import { projectRoot } from "./services.ts";

export interface LoadOptions {
  readonly registry: string | undefined;
  readonly exclusions: string | undefined;
  /** The variables of the run, including secrets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Loads registry files into live with the operator's command. Errors: StartError with the command's last line. */
export async function loadRegistry({ registry, exclusions, environment, log }: LoadOptions): Promise<void> {
  const files = [...(registry ? ["--registry", registry] : []), ...(exclusions ? ["--exclusions", exclusions] : [])];
  if (files.length === 0) return;
  log("Loading registry files ...");
  const lines: string[] = [];
  const command = runProcess({
    name: "registry",
    command: process.execPath,
    args: [join(projectRoot, "services/entity/src/registry-load/cli.ts"), "load", "--environment", "live", ...files],
    cwd: projectRoot,
    env: nodeEnvironment(environment),
    onLine(line) {
      lines.push(line);
      log(`  ${line}`);
    },
  });
  const exit = await command.exited;
  if (exit.code !== 0)
    throw new StartError(`The registry files could not be loaded: ${lines.at(-1) ?? "the command failed"}`);
}
