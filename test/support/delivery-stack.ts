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
import type { Delivery } from "../../services/webhook-dispatcher/src/delivery/delivery.ts";
import { migrate } from "../../services/webhook-dispatcher/src/migrate.ts";
import { dropRun } from "./clean-up.ts";
import { startHelper } from "./helper-process.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

const RECORDS_A_REQUEST = 1_000;

export interface DeliveryStackOptions {
  readonly servers: { readonly mongodbUri: string; readonly kafkaBrokers: readonly string[] };
  /** Before the names of databases and, with a dot, of topics. */
  readonly prefix: string;
  readonly folder: string;
  /** Further variables of the dispatcher. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Node's own options for the dispatcher. */
  readonly nodeOptions?: readonly string[];
}

/** The webhook dispatcher on databases and topics of its own, with a played account service that knows one secret. */
export interface DeliveryStack {
  /** What signs for every organization. */
  readonly secret: string;
  readonly pid: () => number;
  readonly adminPort: number;
  /** The live ones, as they are stored. */
  deliveries(filter?: Parameters<ReturnType<typeof liveDeliveries>["find"]>[0]): Promise<Delivery[]>;
  /** How many of them are not done. */
  pending(): Promise<number>;
  /** Puts events on Kafka, those of a monitor in their order; resolves when the broker has them. */
  publish(events: readonly WebhookRequested[], environment?: EnvironmentName): Promise<void>;
  /** Ends the dispatcher in the middle of whatever it does. */
  kill(): Promise<void>;
  /** Starts it again under the same address; returns when it is ready. */
  start(): Promise<void>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** Errors: something did not start; nothing is left running then. */
export async function startDeliveryStack(options: DeliveryStackOptions): Promise<DeliveryStack> {
  const closes: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closes.splice(0).toReversed()) await close();
  };
  try {
    return await start(options, closes, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  { servers, prefix, folder, environment = {}, nodeOptions }: DeliveryStackOptions,
  closes: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<DeliveryStack> {
  mkdirSync(folder, { recursive: true });
  const stores = {
    MONGODB_URI: servers.mongodbUri,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: servers.kafkaBrokers.join(","),
    KAFKA_TOPIC_PREFIX: `${prefix}.`,
  };
  const client = await new MongoClient(servers.mongodbUri).connect();
  closes.push(() => client.close());
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
  closes.push(() => account.stop());
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
  closes.push(() => dispatcher.stop());
  const deliveries = liveDeliveries(client, prefix);
  const producer = await openProducer(servers.kafkaBrokers);
  closes.push(() => producer.disconnect());
  return {
    secret,
    pid: () => dispatcher.pid,
    adminPort: dispatcher.ports.admin,
    deliveries: (filter = {}) => deliveries.find(filter).toArray(),
    pending: () => deliveries.countDocuments({ status: "pending" }),
    async publish(events, world = "live") {
      const topic = topicFor({ prefix: `${prefix}.`, environment: world, topic: "webhook.requested" });
      for (let at = 0; at < events.length; at += RECORDS_A_REQUEST)
        await producer.send({ topic, messages: events.slice(at, at + RECORDS_A_REQUEST).map(toMessage) });
    },
    kill: () => dispatcher.kill(),
    async start() {
      dispatcher = await startDispatcher(dispatcher.ports);
    },
    stop: closeAll,
    remove: () => dropRun(stores, prefix),
  };
}

/** A change of one monitor that its subscriber is to be told of. */
export function webhookEvent(options: {
  organizationId: string;
  monitorId: string;
  runSeq?: number;
  url: string;
  at?: Date;
}): WebhookRequested {
  const { organizationId, monitorId, runSeq = 1, url, at = new Date() } = options;
  return create(WebhookRequestedSchema, {
    eventId: newId("evt", at),
    tenant: { organizationId, environment: Environment.LIVE },
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

async function openProducer(brokers: readonly string[]): Promise<kafkajs.Producer> {
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return producer;
}

function toMessage(event: WebhookRequested): kafkajs.Message {
  return { key: event.run!.monitorId, value: Buffer.from(toBinary(WebhookRequestedSchema, event)) };
}
