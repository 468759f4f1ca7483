import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import { allTopics, createKafka, topicFor } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { Environment } from "@vvs/proto/common/v1/common";
import { type WebhookRequested, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import type { Environment as EnvironmentName } from "@vvs/tenant";
import kafkajs from "kafkajs";
import { MongoClient } from "mongodb";
import { migrate } from "../../services/webhook-dispatcher/src/migrate.ts";
import type { Delivery } from "../../services/webhook-dispatcher/src/model/delivery.ts";
import { dropRun } from "./clean-up.ts";
import { startHelper } from "./helper-process.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

const RECORDS_PER_REQUEST = 1_000;

export interface DeliveryStackOptions {
  readonly servers: { readonly mongodbUri: string; readonly kafkaBrokers: readonly string[] };
  /** Prefix of the names of databases and, followed by a dot, of topics. */
  readonly prefix: string;
  readonly folder: string;
  /** Further variables of the dispatcher. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Options for Node in the dispatcher's process. */
  readonly nodeOptions?: readonly string[];
}

/** A webhook dispatcher with its own databases and topics, and a simulated account service with one secret. */
export interface DeliveryStack {
  /** Signing secret of every organization. */
  readonly secret: string;
  readonly pid: () => number;
  readonly adminPort: number;
  /** Returns the live deliveries as they are stored. */
  deliveries(filter?: Parameters<ReturnType<typeof liveDeliveries>["find"]>[0]): Promise<Delivery[]>;
  /** Returns the number of pending live deliveries. */
  pending(): Promise<number>;
  /** Publishes events to Kafka, those of one monitor in order; resolves when the broker has them. */
  publish(events: readonly WebhookRequested[], environment?: EnvironmentName): Promise<void>;
  /** Kills the dispatcher without letting it finish anything. */
  kill(): Promise<void>;
  /** Starts it again at the same address; returns when it is ready. */
  start(): Promise<void>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts the stack. */
export async function startDeliveryStack({
  servers,
  prefix,
  folder,
  environment = {},
  nodeOptions,
}: DeliveryStackOptions): Promise<DeliveryStack> {
  mkdirSync(folder, { recursive: true });
  const stores = {
    MONGODB_URI: servers.mongodbUri,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: servers.kafkaBrokers.join(","),
    KAFKA_TOPIC_PREFIX: `${prefix}.`,
  };
  const client = await new MongoClient(servers.mongodbUri).connect();
  await migrate({ client, prefix });
  const kafka = createKafka({
    brokers: [...servers.kafkaBrokers],
    clientId: "test",
    topicPrefix: `${prefix}.`,
    logger: createLogger({ service: "test", level: "warn" }),
  });
  await kafka.ensureTopics(allTopics(`${prefix}.`));
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const account = await startHelper({
    name: "account",
    script: join(import.meta.dirname, "played-account.ts"),
    environment: { SECRETS: secret },
  });
  const startDispatcher = (ports?: ServiceProcess["ports"]) =>
    startServiceProcess({
      name: "webhook-dispatcher",
      environment: {
        ...stores,
        ACCOUNT_ADDRESS: `127.0.0.1:${account.line}`,
        WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
        ...environment,
      },
      logFile: join(folder, "webhook-dispatcher.log"),
      ports,
      nodeOptions,
    });
  let dispatcher = await startDispatcher();
  const deliveries = liveDeliveries(client, prefix);
  const producer = await openProducer(servers.kafkaBrokers);
  return {
    secret,
    pid: () => dispatcher.pid,
    adminPort: dispatcher.ports.admin,
    deliveries: (filter = {}) => deliveries.find(filter).toArray(),
    pending: () => deliveries.countDocuments({ status: "pending" }),
    publish: (events, environmentName = "live") =>
      publishEvents(producer, { prefix: `${prefix}.`, environment: environmentName }, events),
    kill: () => dispatcher.kill(),
    async start() {
      dispatcher = await startDispatcher(dispatcher.ports);
    },
    async stop() {
      await producer.disconnect();
      await dispatcher.stop();
      await account.stop();
      await client.close();
    },
    remove: () => dropRun(stores, prefix),
  };
}

/** Returns the event that reports a monitor's change to its subscriber. */
export function webhookEvent(options: {
  organizationId: string;
  monitorId: string;
  runSeq?: number;
  url: string;
  at?: Date;
  environment?: Environment;
}): WebhookRequested {
  const { organizationId, monitorId, runSeq = 1, url, at = new Date(), environment = Environment.LIVE } = options;
  return create(WebhookRequestedSchema, {
    eventId: newId("evt", at),
    tenant: { organizationId, environment },
    run: { monitorId, runSeq: BigInt(runSeq) },
    entityId: newId("ent", at),
    verificationId: newId("ver", at),
    webhookUrl: url,
    changes: [{ field: "sam_registration.registration_status", previous: "active", current: "expired" }],
    detectedAt: timestampFromDate(at),
  });
}

function liveDeliveries(client: MongoClient, prefix: string) {
  return client.db(`${prefix}webhook_dispatcher_live`).collection<Delivery>("deliveries");
}

export async function openProducer(brokers: readonly string[]): Promise<kafkajs.Producer> {
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return producer;
}

/** Publishes events, those of one monitor in order, to the topic of an environment and a prefix of topics. */
export async function publishEvents(
  producer: kafkajs.Producer,
  of: { prefix: string; environment: EnvironmentName },
  events: readonly WebhookRequested[],
): Promise<void> {
  const topic = topicFor({ ...of, topic: "webhook.requested" });
  for (let at = 0; at < events.length; at += RECORDS_PER_REQUEST)
    await producer.send({ topic, messages: events.slice(at, at + RECORDS_PER_REQUEST).map(toMessage) });
}

function toMessage(event: WebhookRequested): kafkajs.Message {
  return { key: event.run!.monitorId, value: Buffer.from(toBinary(WebhookRequestedSchema, event)) };
}
