import { setTimeout } from "node:timers/promises";
import { type Kafka, subscription } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Environment, environments } from "@vvs/tenant";
import { createMonitorRuns } from "./monitor-runs.ts";

/** With Kafka away the service turns ready after this long: calls need it not, and runs wait for it. */
const JOIN_MS = 6_000;

export interface RunConsumers {
  /** They have joined their groups, or Kafka is away. */
  readonly ready: Promise<unknown>;
  /** Both at once: each may have runs in hand for as long as a check takes. */
  stop(): Promise<unknown>;
}

/** Works on monitors' runs: one consumer and pool per environment, so that one's flood never delays the other. */
export function startRunConsumers(
  options: Omit<Parameters<typeof createMonitorRuns>[0], "environment"> & {
    service: string;
    kafka: Kafka;
    /** Runs worked on at once. */
    atOnce: Readonly<Record<Environment, number>>;
    stopping: AbortSignal;
    logger: Logger;
  },
): RunConsumers {
  const { service, kafka, atOnce, stopping, logger, ...parts } = options;
  const consumers = environments.map((environment) => {
    const handle = createMonitorRuns({ environment, ...parts });
    const topic = kafka.topicFor(environment, "verification.requested");
    const subscriptions = [subscription({ topic, schema: VerificationRequestedSchema, handle })];
    const groupId = `${service}.${environment}`;
    return kafka.runConsumer({ groupId, subscriptions, concurrency: atOnce[environment], logger });
  });
  const joined = Promise.all(consumers.map(({ ready }) => ready));
  return {
    ready: Promise.race([joined, setTimeout(JOIN_MS, undefined, { ref: false, signal: stopping })]),
    stop: () => Promise.all(consumers.map((consumer) => consumer.stop())),
  };
}
