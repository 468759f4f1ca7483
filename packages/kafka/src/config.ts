import { ConfigError, count, environmentWithLocalRun, flag, z } from "@vvs/config";
import type { KafkaOptions } from "./client.ts";
import { SESSION_TIMEOUT_MS } from "./consumer/session.ts";
import type { Sasl } from "./sasl.ts";
import type { TopicSettings } from "./topics.ts";

/** Variables of a program that uses Kafka, to spread into its own `z.object({ ...kafkaSection })`. */
export const kafkaSection = {
  /** Brokers to connect to first: host:port, several separated by commas. */
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .refine((brokers) => brokers.every((broker) => /^[^\s:]+:\d{1,5}$/.test(broker)), "must be host:port[,host:port…]"),
  /** Prefix of the names of topics and consumer groups, so that several installations can share a cluster. */
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[\w.-]{0,64}$/, "at most 64 letters, digits, ., _ and -")
    .default(""),
  /** A consumer without a heartbeat for this long loses its partitions, in milliseconds. Brokers allow 6 s or more by default. */
  KAFKA_SESSION_TIMEOUT_MS: count(1).default(SESSION_TIMEOUT_MS),
  /** Whether connections are TLS. */
  KAFKA_TLS: flag().default(false),
  /** PEM of the authorities that sign the brokers' certificates, best as KAFKA_TLS_CA_FILE; implies TLS. */
  KAFKA_TLS_CA: z.string().optional(),
  /** PEM of a client certificate, best as KAFKA_TLS_CERT_FILE; implies TLS. */
  KAFKA_TLS_CERT: z.string().optional(),
  /** PEM of the key of that certificate, best as KAFKA_TLS_KEY_FILE. */
  KAFKA_TLS_KEY: z.string().optional(),
  /** SASL mechanism to sign in with; no sign-in where absent. */
  KAFKA_SASL_MECHANISM: z.enum(["plain", "scram-sha-256", "scram-sha-512", "oauthbearer"]).optional(),
  KAFKA_SASL_USERNAME: z.string().default(""),
  /** Best as KAFKA_SASL_PASSWORD_FILE. */
  KAFKA_SASL_PASSWORD: z.string().default(""),
  /** For oauthbearer: path of a file with the token, which something else keeps current. Read for each connection. */
  KAFKA_SASL_TOKEN_PATH: z.string().optional(),
  /** For oauthbearer, instead of KAFKA_SASL_TOKEN_PATH: a command of the shell that prints the token. */
  KAFKA_SASL_TOKEN_COMMAND: z.string().optional(),
};

/** Variables of the step that creates topics. For the last two, the brokers' defaults apply where they are absent. */
export const kafkaTopicsSection = {
  /** Partitions of each new topic: the maximum number of a service's replicas that can share its work. */
  KAFKA_TOPIC_PARTITIONS: count(1).default(12),
  KAFKA_TOPIC_REPLICATION_FACTOR: count(1).optional(),
  KAFKA_TOPIC_MIN_INSYNC_REPLICAS: count(1).optional(),
};

const kafkaSchema = z.object(kafkaSection);
const topicsSchema = z.object(kafkaTopicsSection);

/** Returns the options of createKafka from parsed variables. Errors: ConfigError for a mechanism without its credentials. */
export function kafkaOptions(
  config: z.infer<typeof kafkaSchema>,
): Pick<KafkaOptions, "brokers" | "topicPrefix" | "sessionTimeoutMs" | "tls" | "sasl"> {
  const { KAFKA_TLS_CA: ca, KAFKA_TLS_CERT: cert, KAFKA_TLS_KEY: key } = config;
  const isTls = config.KAFKA_TLS || ca !== undefined || cert !== undefined;
  return {
    brokers: config.KAFKA_BROKERS,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    sessionTimeoutMs: config.KAFKA_SESSION_TIMEOUT_MS,
    tls: isTls ? { ca, cert, key } : undefined,
    sasl: saslOf(config),
  };
}

function saslOf(config: z.infer<typeof kafkaSchema>): Sasl | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_TOKEN_PATH: path, KAFKA_SASL_TOKEN_COMMAND: command } = config;
  if (mechanism === undefined) return undefined;
  if (mechanism !== "oauthbearer") {
    return { mechanism, username: config.KAFKA_SASL_USERNAME, password: config.KAFKA_SASL_PASSWORD };
  }
  if (path !== undefined && command === undefined) return { mechanism, token: { path } };
  if (command !== undefined && path === undefined) return { mechanism, token: { command } };
  throw new ConfigError(
    "KAFKA_SASL_MECHANISM: oauthbearer needs KAFKA_SASL_TOKEN_PATH or KAFKA_SASL_TOKEN_COMMAND, not both",
  );
}

/** Returns the settings of allTopics from parsed variables. */
export function topicSettings(config: z.infer<typeof topicsSchema>): TopicSettings {
  return {
    partitions: config.KAFKA_TOPIC_PARTITIONS,
    replicationFactor: config.KAFKA_TOPIC_REPLICATION_FACTOR,
    minInsyncReplicas: config.KAFKA_TOPIC_MIN_INSYNC_REPLICAS,
  };
}

/** Returns the environment of a command: the process's own, or that of a local run. */
export const environmentVariables = (): NodeJS.ProcessEnv =>
  environmentWithLocalRun(process.env, process.cwd(), "KAFKA_BROKERS");
