import { expect, test } from "@jest/globals";
import { ConfigError, loadConfig, z } from "@vvs/config";
import { kafkaOptions, kafkaSection, kafkaTopicsSection, topicSettings } from "./config.ts";

const read = (env: NodeJS.ProcessEnv) => kafkaOptions(loadConfig(z.object(kafkaSection), env));

test("only brokers are required: by default plaintext, no sign-in and no prefix", () => {
  expect(read({ KAFKA_BROKERS: "one:9092, two:9092" })).toEqual({
    brokers: ["one:9092", "two:9092"],
    topicPrefix: "",
    sessionTimeoutMs: 15_000,
    tls: undefined,
    sasl: undefined,
  });
});

test("a CA certificate implies TLS", () => {
  expect(read({ KAFKA_BROKERS: "b:9092", KAFKA_TLS: "true" }).tls).toEqual({ ca: undefined });
  expect(read({ KAFKA_BROKERS: "b:9092", KAFKA_TLS_CA: "PEM" }).tls).toEqual({ ca: "PEM" });
});

test("sign-in uses the mechanism, name and password", () => {
  const env = { KAFKA_SASL_MECHANISM: "scram-sha-512", KAFKA_SASL_USERNAME: "me", KAFKA_SASL_PASSWORD: "secret" };
  expect(read({ KAFKA_BROKERS: "b:9092", ...env }).sasl).toEqual({
    mechanism: "scram-sha-512",
    username: "me",
    password: "secret",
  });
});

test.each([
  [{}, "KAFKA_BROKERS"],
  [{ KAFKA_BROKERS: "no-port" }, "KAFKA_BROKERS"],
  [{ KAFKA_BROKERS: "b:9092", KAFKA_TLS: "yes" }, "KAFKA_TLS"],
  [{ KAFKA_BROKERS: "b:9092", KAFKA_TOPIC_PREFIX: "a b" }, "KAFKA_TOPIC_PREFIX"],
])("%j is refused, naming %s", (env, variable) => {
  expect(() => read(env)).toThrow(ConfigError);
  expect(() => read(env)).toThrow(variable);
});

test("topic settings without a value are left to the brokers", () => {
  expect(topicSettings(loadConfig(z.object(kafkaTopicsSection), { KAFKA_TOPIC_PARTITIONS: "3" }))).toEqual({
    partitions: 3,
    replicationFactor: undefined,
    minInsyncReplicas: undefined,
  });
});
