import { metrics } from "@opentelemetry/api";
import { ConfigError } from "@vvs/config";
import { createLogger, forwardLines, type Logger } from "@vvs/logging";
import { telemetry } from "@vvs/telemetry/register";
import { startAdminServer } from "./admin-server.ts";
import { type Closers, createClosers } from "./closers.ts";

/** Variables of serviceSection, which every service's configuration has. */
export interface ServiceConfig {
  readonly LOG_LEVEL: string;
  readonly ADMIN_HOST: string;
  readonly ADMIN_PORT: number;
  readonly DRAIN_SECONDS: number;
  readonly FINISH_SECONDS: number;
}

export interface ServiceContext<C> {
  readonly config: C;
  readonly logger: Logger;
  /** Registers a function that closes a resource; they run in reverse order when the service stops. */
  readonly onClose: Closers["onClose"];
  /** Aborted when the service begins to stop: loops must end and take no new work. */
  readonly stopping: AbortSignal;
}

/** Maximum time for sending the last telemetry, since an unavailable collector must not delay the exit. */
const FLUSH_MS = 3_000;

/**
 * Runs a service from start to exit. It reads the configuration (if it can't be used: all problems together, exit 1),
 * serves the admin port, starts and becomes ready. On SIGTERM or SIGINT it becomes unready, waits DRAIN_SECONDS for
 * load balancers to notice, closes its resources in reverse order, flushes telemetry and exits 0. It exits 1 if work is
 * not done FINISH_SECONDS after that, on a second signal, and after an uncaught error.
 */
export async function runService<C extends ServiceConfig>(
  name: string,
  load: () => C,
  start: (context: ServiceContext<C>) => Promise<void>,
): Promise<void> {
  const config = loadOrExit(name, load);
  if (telemetry.emitLine) forwardLines(telemetry.emitLine);
  const logger = createLogger({ service: name, level: config.LOG_LEVEL });
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "an uncaught error ends the service");
    process.exit(1);
  });
  const closers = createClosers(logger);
  const stopping = stopOnSignals(config, logger);
  let started = false;
  const phase = () => (stopping.aborted ? "draining" : started ? "ready" : "starting");
  metrics
    .getMeter("lifecycle")
    .createObservableGauge("service_ready", {
      description:
        "1 while this process is ready, 0 while it starts or ends. If no process of a service has 1, nothing does its work.",
    })
    .addCallback((result) => result.observe(phase() === "ready" ? 1 : 0, { service: name }));

  try {
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      state: { phase, handleMetrics: telemetry.handleMetrics },
    });
    closers.onClose("admin server", () => admin.close());
    logger.info({ admin_port: admin.port }, "starting");
    await start({ config, logger, onClose: closers.onClose, stopping });
    started = true;
  } catch (error) {
    if (!stopping.aborted) {
      logger.fatal({ err: error }, "the service could not start");
      process.exit(1);
    }
    logger.info({ err: error }, "stopped before it had started");
  }
  if (!stopping.aborted) {
    logger.info("ready");
    await new Promise((resolve) => stopping.addEventListener("abort", resolve, { once: true }));
    await new Promise((resolve) => setTimeout(resolve, config.DRAIN_SECONDS * 1000));
  }
  await closers.closeAll();
  await flushTelemetry(logger);
  logger.info("stopped");
  process.exit(0);
}

function loadOrExit<C>(name: string, load: () => C): C {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name}: the configuration can't be used:\n${error.message}\n`);
    process.exit(1);
  }
}

/**
 * Returns a signal that SIGTERM or SIGINT aborts. The service then has limited time to end, even if its start hangs.
 */
function stopOnSignals(config: ServiceConfig, logger: Logger): AbortSignal {
  const stopping = new AbortController();
  const limitMs = (config.DRAIN_SECONDS + config.FINISH_SECONDS) * 1000;
  const onSignal = (signal: string) => {
    if (stopping.signal.aborted) {
      logger.warn({ signal }, "a second signal ends the service immediately");
      process.exit(1);
    }
    logger.info({ signal }, "stopping");
    setTimeout(() => {
      logger.error({ limit_ms: limitMs }, "some work did not finish in time");
      process.exit(1);
    }, limitMs).unref();
    stopping.abort();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return stopping.signal;
}

async function flushTelemetry(logger: Logger): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${FLUSH_MS} ms`)), FLUSH_MS).unref();
  });
  await Promise.race([telemetry.shutdown(), late]).catch((error) =>
    logger.warn({ err: error }, "telemetry could not be flushed"),
  );
}
