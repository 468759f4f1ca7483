import { atEnd } from "@vvs/testing";
import { nodeEnvironment, runProcess } from "../../deploy/local/processes.ts";
import { projectRoot } from "../../deploy/local/services.ts";

/** Starts a script in its own process, until the tests of the file are over; returns the first line that it prints. */
export async function startHelper(options: {
  name: string;
  script: string;
  environment?: Readonly<Record<string, string>>;
}): Promise<{ line: string; stop(): Promise<void> }> {
  const first = Promise.withResolvers<string>();
  let lines = "";
  const running = runProcess({
    name: options.name,
    command: process.execPath,
    args: [options.script],
    cwd: projectRoot,
    env: nodeEnvironment(options.environment ?? {}),
    onLine(line) {
      lines += `${line}\n`;
      first.resolve(line);
    },
  });
  const stop = atEnd(() => running.stop());
  void running.exited.then(() => first.reject(new Error(`${options.name} ended: ${lines}`)));
  return { line: await first.promise, stop };
}
