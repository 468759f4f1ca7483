import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Kafka as Library, RetryOptions } from "kafkajs";
import kafkajs from "kafkajs";
import { type ConsumerOptions, startConsumer } from "./consumer/consumer.ts";
import { redriveTopic } from "./dead-letters/redrive-topic.ts";
import { ensureTopics } from "./ensure-topics.ts";
import { type ObserveGroupsOptions, observeGroups } from "./group-lag.ts";
import { bridgeLibraryLogs, libraryLogLevel } from "./library-logs.ts";
import { createProducer } from "./producer.ts";
import { librarySasl, type Sasl } from "./sasl.ts";
import { createInstruments } from "./telemetry.ts";
import { type TopicName, type TopicSpec, topicFor } from "./topics.ts";

/** About three seconds, so that a sender soon learns that Kafka is unavailable. */
const BRIEFLY: RetryOptions = { retries: 4, initialRetryTime: 200, maxRetryTime: 2_000 };
/** About 20 seconds: after a shorter restart of a broker, consumers need not join their group again. */
const PATIENTLY: RetryOptions = { retries: 12, initialRetryTime: 200, maxRetryTime: 2_000 };

export interface KafkaOptions {
  /** host:port of one or more brokers; the others are found through them. */
  readonly brokers: string[];
  /** Names this process to the brokers, in their logs and quotas. */
  readonly clientId: string;
  readonly logger: Logger;
  /** Prefix of the names of topics and consumer groups. */
  readonly topicPrefix?: string;
  /** A consumer without a heartbeat for this long loses its partitions; 15 s by default. */
  readonly sessionTimeoutMs?: number | undefined;
  /** Present for TLS. `ca`: PEM of the authorities to trust instead of the public ones; `cert` and `key`: of the client. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: Sasl;
}

export type Kafka = ReturnType<typeof createKafka>;

/** Creates a client of one cluster. It connects when it is first used. */
export function createKafka(options: KafkaOptions) {
  const { topicPrefix: prefix = "" } = options;
  const library = createLibrary(options, BRIEFLY);
  const instruments = createInstruments();
  const producer = () => createProducer({ library, instruments });

  return {
    /** Returns the full name of a topic: `<prefix><environment>.<topic>`. */
    topicFor: (environment: Environment, topic: TopicName) => topicFor({ prefix, environment, topic }),
    /** Creates the topics that are missing. Errors: Kafka is unavailable, or refuses. */
    ensureTopics: (topics: readonly TopicSpec[]) => ensureTopics(library, topics),
    /** Returns a producer with its own connection; close it. */
    producer,
    /** Starts to consume; waits for Kafka while it is unavailable. */
    runConsumer: (consumer: ConsumerOptions) =>
      startConsumer({
        ...consumer,
        sessionTimeoutMs: options.sessionTimeoutMs,
        groupId: `${prefix}${consumer.groupId}`,
        library: createLibrary(options, PATIENTLY),
        producer: producer(),
        instruments,
      }),
    /** Reports how far each consumer group of the product is, as the brokers know it; close it. */
    observeGroups: (observe: ObserveGroupsOptions) => observeGroups({ ...observe, library, prefix }),
    /** Sends the dead letters of a topic (full name) back to the topic; returns how many. */
    redrive: (topic: string) => redriveTopic({ library, producer: producer(), groupPrefix: prefix, topic }),
  };
}

function createLibrary(options: KafkaOptions, retry: RetryOptions): Library {
  return new kafkajs.Kafka({
    brokers: options.brokers,
    clientId: options.clientId,
    ssl: options.tls && { ...options.tls },
    sasl: options.sasl && librarySasl(options.sasl),
    connectionTimeout: 5_000,
    requestTimeout: 15_000,
    retry,
    logLevel: libraryLogLevel(options.logger),
    logCreator: bridgeLibraryLogs(options.logger),
  });
}
