import { join } from "node:path";
import { nodeEnvironment, runProcess } from "../../../deploy/local/processes.ts";
import { projectRoot } from "../../../deploy/local/services.ts";

export interface LoadRun {
  /** Reported by the command, like all figures here. */
  readonly seconds: number;
  readonly new: number;
  readonly unchanged: number;
  readonly peakRssMb: number;
}

/** Loads a file with the operator's command in a separate process. Errors: the load failed. */
export async function runLoader(options: {
  kind: "registry" | "exclusions";
  file: string;
  environment: Readonly<Record<string, string>>;
  log: (line: string) => void;
}): Promise<LoadRun> {
  const lines: string[] = [];
  const command = runProcess({
    name: "registry",
    command: process.execPath,
    args: [
      ...["--import", join(import.meta.dirname, "peak-memory.ts")],
      ...[join(projectRoot, "services/entity/src/registry-load/cli.ts"), "load", `--${options.kind}`, options.file],
    ],
    cwd: projectRoot,
    env: nodeEnvironment(options.environment),
    onLine(line) {
      lines.push(line);
      options.log(`  ${line}`);
    },
  });
  const { code } = await command.exited;
  const output = lines.join("\n");
  if (code !== 0) throw new Error(`The load failed: ${output}`);
  const figure = (name: string) => {
    const text = new RegExp(`\\b${name} ([\\d.]+)`).exec(output)?.[1];
    if (text === undefined) throw new Error(`The load did not report ${name}: ${output}`);
    return Number(text);
  };
  return {
    seconds: figure("seconds"),
    new: figure("new"),
    unchanged: figure("unchanged"),
    peakRssMb: figure("peak_rss_mb"),
  };
}
