import { setTimeout } from "node:timers/promises";
import { type Kafka, subscription } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Environment, environments } from "@vvs/tenant";
import { createMonitorRuns } from "./monitor-runs.ts";

/** How long the service waits for Kafka before it is ready without it, in milliseconds. Calls don't need Kafka. */
const JOIN_MS = 6_000;

export interface RunConsumers {
  /** Resolves when the consumers have joined their groups, or when the wait for Kafka is over. */
  readonly ready: Promise<unknown>;
  /** Stops both consumers together: each may have runs in flight for as long as a check takes. */
  stop(): Promise<unknown>;
}

/** Handles monitors' runs with one consumer and pool per environment, so that a flood of runs never delays the other one. */
export function startRunConsumers(
  options: Omit<Parameters<typeof createMonitorRuns>[0], "environment"> & {
    service: string;
    kafka: Kafka;
    /** Maximum number of runs in flight. */
    concurrency: Readonly<Record<Environment, number>>;
    stopping: AbortSignal;
    logger: Logger;
  },
): RunConsumers {
  const { service, kafka, concurrency, stopping, logger, ...dependencies } = options;
  const consumers = environments.map((environment) => {
    const handle = createMonitorRuns({ environment, ...dependencies });
    const topic = kafka.topicFor(environment, "verification.requested");
    const subscriptions = [subscription({ topic, schema: VerificationRequestedSchema, handle })];
    const groupId = `${service}.${environment}`;
    return kafka.runConsumer({ groupId, subscriptions, concurrency: concurrency[environment], logger });
  });
  const joined = Promise.all(consumers.map(({ ready }) => ready));
  return {
    ready: Promise.race([joined, setTimeout(JOIN_MS, undefined, { ref: false, signal: stopping })]),
    stop: () => Promise.all(consumers.map((consumer) => consumer.stop())),
  };
}
