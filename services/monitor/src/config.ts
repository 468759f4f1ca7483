import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import type { FastClock } from "./schedule.ts";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...rpcSection,
  ...kafkaSection,
  /** Address the gRPC server binds to; without certificates it must be loopback. */
  RPC_HOST: z.string().default("127.0.0.1"),
  /** Its port. */
  RPC_PORT: port().default(50_054),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** Whether webhook URLs may name private addresses: for local runs alone. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
  /** How often due monitors are looked for, in milliseconds. */
  SCHEDULE_POLL_MS: count(10).default(250),
  /** How long a run that has not ended holds back the monitor's next one, in seconds. */
  RUN_TIMEOUT_SECONDS: count(1).default(600),
  /** How long a sandbox monitor's clock runs fast, in seconds after its creation; 0 never. */
  SANDBOX_FAST_SECONDS: count().default(3_600),
  /** What an hour takes on the fast clock, in milliseconds. */
  SANDBOX_HOURLY_MS: count(100).default(5_000),
  /** What a day takes on it. */
  SANDBOX_DAILY_MS: count(100).default(15_000),
  /** What seven days take on it. */
  SANDBOX_WEEKLY_MS: count(100).default(60_000),
  /** What thirty days take on it. */
  SANDBOX_MONTHLY_MS: count(100).default(60_000),
  /** Live records handled at once; each is a short transaction. */
  LIVE_CONCURRENCY: count(1).default(16),
  /** The same for the sandbox, whose load never takes from live's. */
  SANDBOX_CONCURRENCY: count(1).default(8),
});

export type MonitorConfig = z.infer<typeof schema>;

/** Errors: ConfigError with all problems at once. */
export const loadMonitorConfig = (): MonitorConfig => loadConfig(schema, process.env);

/** How fast the sandbox's clock runs, and for how long. */
export function fastClockOf(config: MonitorConfig): FastClock {
  return {
    lastsMs: config.SANDBOX_FAST_SECONDS * 1_000,
    intervalsMs: {
      hourly: config.SANDBOX_HOURLY_MS,
      daily: config.SANDBOX_DAILY_MS,
      weekly: config.SANDBOX_WEEKLY_MS,
      monthly: config.SANDBOX_MONTHLY_MS,
    },
  };
}
