import { spawn } from "node:child_process";
import { mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

type Message = { line?: string; ready?: string };

/**
 * Starts the same run in the background, shows its progress, and returns when it is ready. Returns the exit code: 0, or
 * 1 if the run ended before it was ready (it has printed the cause and left nothing running).
 */
export async function startDetached(args: string[], logFile: string): Promise<number> {
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, "w", 0o600);
  const run = spawn(process.execPath, [process.argv[1]!, ...args.filter((arg) => arg !== "--detach")], {
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  const interrupt = () => run.kill("SIGTERM");
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  const code = await new Promise<number>((resolve) => {
    run.on("message", (message: Message) => {
      if (message.line) console.error(message.line);
      if (message.ready) {
        console.error(message.ready);
        resolve(0);
      }
    });
    run.once("exit", (exit) => resolve(exit || 1));
  });
  if (run.connected) run.disconnect();
  run.unref();
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", interrupt);
  return code;
}
