import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Exit, nodeEnvironment, type RunningProcess, runProcess } from "./processes.ts";
import type { LocalSecrets } from "./secrets.ts";
import { freePort } from "./servers/free-port.ts";
import { StartError } from "./servers/start-error.ts";
import { createLogFile, lastLines } from "./service-logs.ts";
import { type ServiceTopology, topology } from "./topology.ts";

export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export type ServiceName =
  | "account"
  | "entity"
  | "verification"
  | "monitor"
  | "webhook-dispatcher"
  | "change-detector"
  | "gateway"
  | "dashboard";

const READY_TIMEOUT_MS = 180_000;
const STOP_GRACE_MS = 30_000;
const RESTART_DELAY_MS = 1_000;
const LAST_LINES = 15;

export interface ServicesOptions {
  /** The variables of all services. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: LocalSecrets;
  /** Variables of live providers; only verification gets them. */
  readonly providers?: NodeJS.ProcessEnv;
  /** Ports of the two public services. */
  readonly apiPort: number;
  readonly dashboardPort: number;
  /** Folder with one log file per service. */
  readonly logDir: string;
  /** Called with each log line of a service. Without it services write to their files themselves, which costs less. */
  readonly onLine?: (service: ServiceName, line: string) => void;
  /** Called when a service has ended unexpectedly; it is started again. */
  readonly onCrash: (service: ServiceName, exit: Exit) => void;
}

type Ports = Readonly<Record<ServiceName, number>>;

export interface RunningServices {
  /** The admin port of each service. */
  readonly adminPorts: Ports;
  /** The variables with the addresses of the gRPC servers. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Returns the pid of a service's current process. */
  pid(service: ServiceName): number;
  /** Stops all services, callers before the services that they call. */
  stop(): Promise<void>;
}

/** Starts all services and returns when all are ready. Errors: StartError; then no service stays running. */
export async function startServices(options: ServicesOptions): Promise<RunningServices> {
  mkdirSync(options.logDir, { recursive: true });
  const addresses: Record<string, string> = {};
  const plans: Plan[] = [];
  for (const [name, service] of Object.entries(topology)) {
    const [adminPort, rpcPort] = [await freePort(), await freePort()];
    if (service.addressVariable) addresses[service.addressVariable] = `127.0.0.1:${rpcPort}`;
    plans.push({ ...service, name: name as ServiceName, adminPort, rpcPort });
  }
  const running = plans.map((plan) => keepRunning(plan, { ...options.environment, ...addresses }, options));
  const stop = async () => {
    for (const service of running.toReversed()) service.expectEnd();
    await Promise.all(running.map((service) => service.stop()));
  };
  try {
    await Promise.all(running.map((service) => service.ready()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    adminPorts: Object.fromEntries(plans.map(({ name, adminPort }) => [name, adminPort])) as Ports,
    addresses,
    pid: (name) => running.find((service) => service.name === name)!.pid(),
    stop,
  };
}

interface Plan extends ServiceTopology {
  readonly name: ServiceName;
  readonly adminPort: number;
  readonly rpcPort: number;
}

function variables(plan: Plan, environment: Record<string, string>, options: ServicesOptions): NodeJS.ProcessEnv {
  const httpPort = plan.name === "gateway" ? options.apiPort : options.dashboardPort;
  return nodeEnvironment({
    ...otelVariables(),
    ...environment,
    ...(plan.name === "verification" && options.providers),
    ...Object.fromEntries([...plan.secrets, ...plan.optionalSecrets].map((name) => [name, options.secrets[name]])),
    OTEL_SERVICE_NAME: plan.name,
    OTEL_SERVICE_NAMESPACE: "vendor-verification",
    ADMIN_HOST: "127.0.0.1",
    ADMIN_PORT: String(plan.adminPort),
    RPC_HOST: "127.0.0.1",
    RPC_PORT: String(plan.rpcPort),
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(httpPort),
    DRAIN_SECONDS: "0",
  });
}

/** Returns OpenTelemetry's variables, which are passed on unchanged. */
function otelVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("OTEL_")));
}

/** Starts a service, and starts it again if it ends unexpectedly after it was ready. */
function keepRunning(plan: Plan, environment: Record<string, string>, options: ServicesOptions) {
  const env = variables(plan, environment, options);
  const logFile = join(options.logDir, `${plan.name}.log`);
  const log = createLogFile(logFile);
  const { onLine } = options;
  const output = onLine
    ? {
        onLine(line: string) {
          log.write(line);
          onLine(plan.name, line);
        },
      }
    : { logFile };
  let wanted = true;
  let wasReady = false;
  let current = launch();

  function launch(): RunningProcess {
    const launched = runProcess({
      name: plan.name,
      command: process.execPath,
      args: [
        "--import",
        join(projectRoot, "packages/telemetry/src/register.ts"),
        join(projectRoot, "services", plan.name, "src/main.ts"),
      ],
      cwd: projectRoot,
      env,
      ...output,
    });
    void launched.exited.then((exit) => {
      if (!wanted || !wasReady) return;
      options.onCrash(plan.name, exit);
      setTimeout(() => {
        if (wanted) current = launch();
      }, RESTART_DELAY_MS);
    });
    return launched;
  }

  return {
    name: plan.name,
    pid: () => current.pid,
    expectEnd: () => {
      wanted = false;
    },
    async ready() {
      const ended = current.exited.then(() => {
        const lines = lastLines(logFile, LAST_LINES).map((line) => `  ${line}`);
        throw new StartError(`${plan.name} ended before it was ready. Its last lines:\n${lines.join("\n")}`);
      });
      await Promise.race([answersReady(plan), ended]);
      wasReady = true;
    },
    async stop() {
      wanted = false;
      await current.stop(STOP_GRACE_MS);
      log.close();
    },
  };
}

async function answersReady(plan: Plan): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const response = await fetch(`http://127.0.0.1:${plan.adminPort}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new StartError(`${plan.name} was not ready within ${READY_TIMEOUT_MS / 1000} s; see its log.`);
}
