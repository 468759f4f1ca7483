// Starts services as in production, for tests that prove that they work together.
import { fileURLToPath } from "node:url";
import { type Exit, runProcess } from "../../../../deploy/local/processes.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export interface ServiceProcess {
  /** Port of its gRPC server; 0 if it has none. */
  readonly port: number;
  /** Stops the process and returns how it exited. */
  stop(): Promise<Exit>;
}

/** Starts a service and waits until it logs that it is ready. Errors: it exited before. */
export async function startService(name: string, variables: Record<string, string>): Promise<ServiceProcess> {
  const ready = Promise.withResolvers<number>();
  let port = 0;
  const service = runProcess({
    name,
    command: process.execPath,
    args: ["--import", `${root}/packages/telemetry/src/register.ts`, `${root}/services/${name}/src/main.ts`],
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      OTEL_SERVICE_NAME: name,
      ADMIN_PORT: "0",
      DRAIN_SECONDS: "0",
      ...variables,
    },
    onLine(line) {
      const entry = parsed(line);
      if (entry.msg === "serving") port = entry.port!;
      if (entry.msg === "ready") ready.resolve(port);
    },
  });
  service.exited.then(({ code }) => ready.reject(new Error(`${name} exited with code ${code} before it was ready`)));
  await ready.promise;
  return {
    port,
    async stop() {
      await service.stop();
      return service.exited;
    },
  };
}

/** Returns a log line, or an empty object for other output. */
function parsed(line: string): { msg?: string; port?: number } {
  return line.startsWith("{") ? JSON.parse(line) : {};
}
