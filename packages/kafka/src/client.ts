import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Kafka as Library, RetryOptions, SASLOptions } from "kafkajs";
import kafkajs from "kafkajs";
import { type ConsumerOptions, type RunningConsumer, startConsumer } from "./consumer.ts";
import { ensureTopics } from "./ensure-topics.ts";
import { bridgeLibraryLogs, libraryLogLevel } from "./library-logs.ts";
import { createProducer, type Producer } from "./producer.ts";
import { redriveTopic } from "./redrive-topic.ts";
import { createInstruments } from "./telemetry.ts";
import { type TopicName, type TopicSpec, topicFor } from "./topics.ts";

/** Some three seconds, so that whoever sends learns soon that Kafka is away. */
const BRIEFLY: RetryOptions = { retries: 4, initialRetryTime: 200, maxRetryTime: 2_000 };
/** Some 20 seconds: a broker that restarts meanwhile still knows its consumers, and none has to join again. */
const PATIENTLY: RetryOptions = { retries: 12, initialRetryTime: 200, maxRetryTime: 2_000 };

export interface KafkaOptions {
  /** host:port of some brokers; they name the others. */
  readonly brokers: string[];
  /** Names this process to the brokers, in their logs and quotas. */
  readonly clientId: string;
  readonly logger: Logger;
  /** Put before the names of topics and consumer groups. */
  readonly topicPrefix?: string;
  /** TLS, with the authorities to trust as PEM where they are not the public ones. */
  readonly tls?: { readonly ca?: string };
  readonly sasl?: {
    readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
    readonly username: string;
    readonly password: string;
  };
}

export interface Kafka {
  /** The full name of a topic: `<prefix><environment>.<topic>`. */
  topicFor(environment: Environment, topic: TopicName): string;
  /** Creates the topics that are missing. Errors: Kafka is away, or refuses. */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;
  /** A producer of its own connection; close it. */
  producer(): Producer;
  /** Starts to consume; a Kafka that is away is waited for. */
  runConsumer(options: ConsumerOptions): RunningConsumer;
  /** Sends the dead letters of a topic (full name) back to it; returns how many. */
  redrive(topic: string): Promise<number>;
}

/** A client for one cluster. Nothing connects before it is used. */
export function createKafka(options: KafkaOptions): Kafka {
  const { topicPrefix: prefix = "" } = options;
  const library = createLibrary(options, BRIEFLY);
  const instruments = createInstruments();
  const producer = () => createProducer({ library, instruments });

  return {
    topicFor: (environment, topic) => topicFor({ prefix, environment, topic }),
    ensureTopics: (topics) => ensureTopics(library, topics),
    producer,
    runConsumer: (consumer) =>
      startConsumer({
        ...consumer,
        groupId: `${prefix}${consumer.groupId}`,
        library: createLibrary(options, PATIENTLY),
        producer: producer(),
        instruments,
      }),
    redrive: (topic) => redriveTopic({ library, producer: producer(), groupPrefix: prefix, topic }),
  };
}

function createLibrary(options: KafkaOptions, retry: RetryOptions): Library {
  return new kafkajs.Kafka({
    brokers: options.brokers,
    clientId: options.clientId,
    ssl: options.tls && (options.tls.ca === undefined ? true : { ca: options.tls.ca }),
    sasl: options.sasl as SASLOptions | undefined,
    connectionTimeout: 5_000,
    requestTimeout: 15_000,
    retry,
    logLevel: libraryLogLevel(options.logger),
    logCreator: bridgeLibraryLogs(options.logger),
  });
}
