import { join } from "node:path";
import { atEnd, eventually } from "@vvs/testing";
import { nodeEnvironment, runProcess } from "../../deploy/local/processes.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot, type ServiceName } from "../../deploy/local/services.ts";

export interface ServiceProcessOptions {
  readonly name: ServiceName;
  /** Its variables, except its ports. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Ports of the process that it replaces, if other processes already use them. */
  readonly ports?: ServicePorts;
  /** Options for Node, for example for profiling. */
  readonly nodeOptions?: readonly string[];
}

export interface ServicePorts {
  readonly admin: number;
  readonly rpc: number;
}

/** A service in its own process, which a test may kill. */
export interface ServiceProcess {
  readonly pid: number;
  readonly ports: ServicePorts;
  /** Kills it without letting it finish anything. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one service as it is started in production, until the tests of the file are over; returns when it is ready. */
export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { name, environment, logFile, nodeOptions = [] } = options;
  const ports = options.ports ?? { admin: await freePort(), rpc: await freePort() };
  const running = runProcess({
    name,
    command: process.execPath,
    args: [
      ...nodeOptions,
      "--import",
      join(projectRoot, "packages/telemetry/src/register.ts"),
      join(projectRoot, "services", name, "src/main.ts"),
    ],
    cwd: projectRoot,
    env: nodeEnvironment({
      ...environment,
      OTEL_SERVICE_NAME: name,
      ADMIN_HOST: "127.0.0.1",
      ADMIN_PORT: String(ports.admin),
      RPC_HOST: "127.0.0.1",
      RPC_PORT: String(ports.rpc),
      DRAIN_SECONDS: "0",
    }),
    logFile,
  });
  const stop = atEnd(() => running.stop(30_000));
  const ended = running.exited.then(() => {
    throw new Error(`${name} ended before it was ready; its log is ${logFile}`);
  });
  const ready = eventually(
    async () => (await fetch(`http://127.0.0.1:${ports.admin}/readyz`).catch(() => undefined))?.ok,
  );
  await Promise.race([ended, ready]);
  return {
    pid: running.pid,
    ports,
    async kill() {
      process.kill(running.pid, "SIGKILL");
      await running.exited;
    },
    stop,
  };
}
