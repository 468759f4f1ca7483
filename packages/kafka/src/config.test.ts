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

test("a CA or a client certificate implies TLS", () => {
  expect(read({ KAFKA_BROKERS: "b:9092", KAFKA_TLS: "true" }).tls).toEqual({});
  expect(read({ KAFKA_BROKERS: "b:9092", KAFKA_TLS_CA: "PEM" }).tls).toEqual({ ca: "PEM" });
  const client = { KAFKA_TLS_CERT: "certificate", KAFKA_TLS_KEY: "key" };
  expect(read({ KAFKA_BROKERS: "b:9092", ...client }).tls).toEqual({ cert: "certificate", key: "key" });
});

test("sign-in uses the mechanism, name and password", () => {
  const env = { KAFKA_SASL_MECHANISM: "scram-sha-512", KAFKA_SASL_USERNAME: "me", KAFKA_SASL_PASSWORD: "secret" };
  expect(read({ KAFKA_BROKERS: "b:9092", ...env }).sasl).toEqual({
    mechanism: "scram-sha-512",
    username: "me",
    password: "secret",
  });
});

test("a bearer token comes from a file or from a command", () => {
  const env = { KAFKA_BROKERS: "b:9092", KAFKA_SASL_MECHANISM: "oauthbearer" };
  const [path, command] = [{ KAFKA_SASL_TOKEN_PATH: "/token" }, { KAFKA_SASL_TOKEN_COMMAND: "print token" }];
  expect(read({ ...env, ...path }).sasl).toEqual({ mechanism: "oauthbearer", token: { path: "/token" } });
  expect(read({ ...env, ...command }).sasl).toEqual({ mechanism: "oauthbearer", token: { command: "print token" } });
  for (const neither of [{}, { ...path, ...command }]) expect(() => read({ ...env, ...neither })).toThrow(ConfigError);
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
