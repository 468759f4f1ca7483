import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import type { FastClock } from "./model/frequency.ts";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...rpcSection,
  ...callsSection,
  ...kafkaSection,
  /** Address that the gRPC server binds to. Without certificates it must be loopback. */
  RPC_HOST: z.string().default("127.0.0.1"),
  /** Port of the gRPC server. */
  RPC_PORT: port().default(50_054),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the verification service. */
  VERIFICATION_ADDRESS: z.string().default("127.0.0.1:50053"),
  /** host:port of the account service, or of its keys part. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** Whether webhook URLs may point to private addresses. Only for local runs. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
  /** Pause between two searches for due monitors, in milliseconds. */
  SCHEDULE_POLL_MS: count(10).default(250),
  /** How long a run that has not ended delays the monitor's next one, in seconds. */
  RUN_TIMEOUT_SECONDS: count(1).default(600),
  /** Time over which the runs are spread that start because a loaded file changed their vendors, in seconds. */
  FILE_RUN_SPREAD_SECONDS: count().default(600),
  /** How long after its creation a sandbox monitor uses the fast intervals, in seconds; 0: never. */
  SANDBOX_FAST_SECONDS: count().default(3_600),
  /** Fast interval of an hourly monitor, in milliseconds. */
  SANDBOX_HOURLY_MS: count(100).default(5_000),
  /** Fast interval of a daily monitor, in milliseconds. */
  SANDBOX_DAILY_MS: count(100).default(15_000),
  /** Fast interval of a weekly monitor, in milliseconds. */
  SANDBOX_WEEKLY_MS: count(100).default(60_000),
  /** Fast interval of a monthly monitor, in milliseconds. */
  SANDBOX_MONTHLY_MS: count(100).default(60_000),
  /** Days for which events of sandbox monitors are kept. */
  SANDBOX_KEPT_DAYS: count(1).default(14),
  /** Maximum number of sandbox events of an organization; beyond it the oldest go, but none younger than a day. */
  SANDBOX_KEPT_EVENTS: count(1).default(10_000),
  /** Maximum number of live records handled at the same time. Each is a short transaction. */
  LIVE_CONCURRENCY: count(1).default(16),
  /** Maximum number of sandbox records handled at the same time. Separate, so that sandbox load cannot slow live. */
  SANDBOX_CONCURRENCY: count(1).default(8),
});

export type MonitorConfig = z.infer<typeof schema>;

/** Reads the configuration from the environment. Errors: ConfigError that lists all problems. */
export const loadMonitorConfig = (): MonitorConfig => loadConfig(schema, process.env);

/** Returns the fast intervals of sandbox monitors and how long they apply. */
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
