// Starts services as they are started in production, for tests that prove them wired to each other.
import { fileURLToPath } from "node:url";
import { type Exit, runProcess } from "../../../deploy/local/processes.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface ServiceProcess {
  /** The port of its gRPC server; 0 where it has none. */
  readonly port: number;
  /** Asks it to end, and tells how it ended. */
  stop(): Promise<Exit>;
}

/** Starts a service and waits until it says that it is ready. Errors: it ended before. */
export async function startService(name: string, variables: Record<string, string>): Promise<ServiceProcess> {
  const ready = Promise.withResolvers<number>();
  let port = 0;
  const service = runProcess({
    name,
    command: process.execPath,
    args: ["--import", `${root}/packages/telemetry/src/register.ts`, `${root}/services/${name}/src/main.ts`],
    env: { OTEL_SERVICE_NAME: name, ADMIN_PORT: "0", DRAIN_SECONDS: "0", ...variables },
    onLine(line) {
      const entry = parsed(line);
      if (entry.msg === "serving") port = entry.port!;
      if (entry.msg === "ready") ready.resolve(port);
    },
  });
  service.exited.then(({ code }) => ready.reject(new Error(`${name} ended with ${code} before it was ready`)));
  await ready.promise;
  return {
    port,
    async stop() {
      await service.stop();
      return service.exited;
    },
  };
}

/** A log line; what else a process writes is empty. */
function parsed(line: string): { msg?: string; port?: number } {
  return line.startsWith("{") ? JSON.parse(line) : {};
}
