import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { type StringValue, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { createKafka, kafkaOptions, kafkaSection } from "@vvs/kafka";
import { connectMongo, mongoOptions, mongoSection } from "@vvs/mongo";
import { eventually, silentLogger as logger, temporaryFolder } from "@vvs/testing";
import { run } from "../../deploy/image/run.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { type CertificateFiles, tlsVariables, writeCertificates } from "./certificates.ts";
import { KAFKA_USER, type SecuredKafka, startSecuredKafka, unsignedToken } from "./secured-kafka.ts";
import { startSecuredMongodb } from "./secured-mongodb.ts";

const folder = temporaryFolder();
let files: CertificateFiles;
let mongodb: Awaited<ReturnType<typeof startSecuredMongodb>>;
let kafka: SecuredKafka;
/** Variables for both stores, as the chart sets them: with SCRAM for Kafka. */
let variables: Record<string, string>;

describe("stores that take only TLS with a private CA, client certificates and signed-in users", () => {
  beforeAll(async () => {
    files = writeCertificates(folder);
    const cacheDir = serverCacheDir(process.env);
    const options = (name: string) => ({ dataDir: join(folder, name), cacheDir, log: () => undefined });
    [mongodb, kafka] = await Promise.all([
      startSecuredMongodb(options("mongodb"), files),
      startSecuredKafka(options("kafka"), files),
    ]);
    writeFileSync(join(folder, "password"), `${KAFKA_USER.password}\n`);
    variables = {
      MONGODB_URI: mongodb.uri,
      ...tlsVariables("MONGODB", files),
      KAFKA_BROKERS: kafka.brokers,
      ...tlsVariables("KAFKA", files),
      KAFKA_SASL_MECHANISM: "scram-sha-512",
      KAFKA_SASL_USERNAME: KAFKA_USER.username,
      KAFKA_SASL_PASSWORD_FILE: join(folder, "password"),
    };
  }, 240_000);

  afterAll(async () => {
    await mongodb?.stop();
    await kafka?.stop();
  }, 60_000);

  const connectTo = (changed: Record<string, string>) => {
    const config = loadConfig(z.object(mongoSection), { ...variables, ...changed });
    // Aborted, so that it tries only once.
    return connectMongo({ ...mongoOptions(config), service: "test", logger, stopping: AbortSignal.abort() });
  };

  test("the migration and then entity, with the thread of its name index, run on them", async () => {
    const { PATH, HOME } = process.env;
    const migrate = { cwd: projectRoot, env: { PATH, HOME, ...variables } };
    const printed = await run(process.execPath, ["deploy/migrate-command.ts"], migrate);
    expect(printed).toContain("up to date");
    const logFile = join(folder, "entity.log");
    const { TIN_KEYS, TIN_HASH_KEYS } = generateSecrets();
    const entity = await startServiceProcess({
      name: "entity",
      environment: { ...variables, TIN_KEYS, TIN_HASH_KEYS, LOG_LEVEL: "info" },
      logFile,
    });
    await entity.stop();
    expect(readFileSync(logFile, "utf8")).toContain("the name index is ready");
  }, 120_000);

  test("MongoDB refuses a client without a certificate, one with a wrong password, and is not trusted without its CA", async () => {
    const client = await connectTo({ MONGODB_MAX_POOL_SIZE: "7" });
    expect(client.options.maxPoolSize).toBe(7);
    await client.close();
    await expect(connectTo({ MONGODB_TLS_CERT_FILE: "", MONGODB_TLS_KEY_FILE: "" })).rejects.toThrow();
    await expect(connectTo({ MONGODB_TLS_CA_FILE: "" })).rejects.toThrow("certificate");
    await expect(connectTo({ MONGODB_URI: mongodb.uri.replace("vvs:", "vvs:x") })).rejects.toThrow("Authentication");
  });

  const kafkaWith = (changed: Record<string, string>) => {
    const config = loadConfig(z.object(kafkaSection), { ...variables, ...changed });
    return createKafka({ ...kafkaOptions(config), clientId: "test", logger });
  };
  const topicOf = (name: string) => ({ topic: name, partitions: 1, retentionMs: 3_600_000, maxRecordBytes: 1_000_000 });
  const text = (value: string) => toBinary(StringValueSchema, create(StringValueSchema, { value }));

  test.each([
    ["plain", () => ({})],
    ["scram-sha-256", () => ({})],
    ["scram-sha-512", () => ({})],
    [
      "oauthbearer",
      () => {
        writeFileSync(join(folder, "token"), `${unsignedToken("vvs")}\n`);
        return { KAFKA_SASL_TOKEN_PATH: join(folder, "token") };
      },
    ],
    ["oauthbearer", () => ({ KAFKA_SASL_TOKEN_COMMAND: `echo ${unsignedToken("vvs")}` })],
  ])("Kafka takes records from, and gives them to, a client that signs in with %s", async (mechanism, more) => {
    const given = more();
    const client = kafkaWith({ KAFKA_SASL_MECHANISM: mechanism, ...given });
    const topic = `${mechanism}${Object.keys(given).join("")}`;
    await client.ensureTopics([topicOf(topic)]);
    const producer = client.producer();
    await producer.send([{ topic, key: "a", value: text("sent") }]);
    await producer.close();
    const received: string[] = [];
    const handle = async (message: unknown) => void received.push((message as StringValue).value);
    const subscriptions = [{ topic, schema: StringValueSchema, handle }];
    const consumer = client.runConsumer({ groupId: topic, concurrency: 1, logger, subscriptions });
    await eventually(() => received.length > 0);
    await consumer.stop();
    expect(received).toEqual(["sent"]);
  });

  test("a token is read again when the broker wants a new one on a connection that is open", async () => {
    const [token, count] = [join(folder, "renewed"), join(folder, "count")];
    writeFileSync(token, unsignedToken("vvs"));
    const command = `echo x >> ${count}; cat ${token}`;
    const client = kafkaWith({ KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_TOKEN_COMMAND: command });
    await client.ensureTopics([topicOf("renewed")]);
    const producer = client.producer();
    const send = () => producer.send([{ topic: "renewed", key: "a", value: text("sent") }]);
    await send();
    const times = () => readFileSync(count, "utf8").split("\n").length;
    const before = times();
    await eventually(async () => {
      await send();
      return times() > before;
    });
    await producer.close();
  });

  test.each([
    ["a wrong password", () => ({ KAFKA_SASL_PASSWORD: "wrong", KAFKA_SASL_PASSWORD_FILE: "" })],
    ["no client certificate", () => ({ KAFKA_TLS_CERT_FILE: "", KAFKA_TLS_KEY_FILE: "" })],
    ["no CA", () => ({ KAFKA_TLS: "true", KAFKA_TLS_CA_FILE: "" })],
    ["a command that fails", () => ({ KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_TOKEN_COMMAND: "exit 3" })],
  ])("Kafka and a client with %s do not come together", async (_what, changed) => {
    await expect(kafkaWith(changed()).ensureTopics([topicOf("refused")])).rejects.toThrow();
  });
});
