import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import kafkajs from "kafkajs";
import { outputOf } from "../processes.ts";
import { type Cache, type Download, ensureFetched, fetchFromMaven, fetchNeeds } from "./downloads.ts";
import { freePort } from "./free-port.ts";
import { launch, type ManagedServer, type ServerOptions } from "./managed.ts";
import type { Prerequisite } from "./prerequisites.ts";
import { StartError } from "./start-error.ts";

const VERSION = "4.1.0";
// The same for every local broker: a cluster of one needs no unique id.
export const CLUSTER_ID = "bG9jYWwtdmVuZG9yLXZ2cw";

const download: Download = {
  folder: `kafka-${VERSION}`,
  title: `Kafka ${VERSION}`,
  sizeMb: 43,
  needs: ["maven"],
  fetch: (folder) =>
    fetchFromMaven(
      [`org.apache.kafka:kafka_2.13:${VERSION}`, "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3"],
      folder,
    ),
};

const LOGGING = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
`;

/** For a broker that lives for minutes, Java's second compiler costs more than it saves. */
const BRIEF = ["-XX:TieredStopAtLevel=1"];

export type KafkaOptions = ServerOptions & {
  /** Whether it lives for minutes only: it then starts in half the processor time, and is slower later. */
  isBrief?: boolean | undefined;
};

export type KafkaServer = ManagedServer & { brokers: string[] };

/** Returns the tools that `startKafka` needs on this machine. */
export async function kafkaNeeds(cacheDir: string): Promise<Prerequisite[]> {
  return ["java", ...(await fetchNeeds(download, cacheDir))];
}

/** Starts Kafka on 127.0.0.1: one process as broker and controller, without automatic topics. */
export async function startKafka(options: KafkaOptions): Promise<KafkaServer> {
  const libs = join(await fetchKafkaLibs(options), "*");
  const server = await launch({
    name: "Kafka",
    options,
    command: async (port) => {
      const properties = await writeConfiguration(options.dataDir, port);
      await format(libs, options.dataDir, properties);
      const java = ["-Xms128m", "-Xmx512m", "-Djava.awt.headless=true", ...(options.isBrief ? BRIEF : [])];
      const logging = `-Dlog4j2.configurationFile=${join(options.dataDir, "log4j2.properties")}`;
      return { command: "java", args: [...java, logging, "-cp", libs, "kafka.Kafka", properties] };
    },
    probe: async (port) => {
      await describeKafka([`127.0.0.1:${port}`], 2_000);
    },
  });
  return { ...server, brokers: [`127.0.0.1:${server.port}`] };
}

/** Returns the folder with the classes of the pinned Kafka version. */
export async function fetchKafkaLibs(cache: Cache): Promise<string> {
  return join(await ensureFetched(download, cache), "libs");
}

async function writeConfiguration(dataDir: string, port: number): Promise<string> {
  const file = join(dataDir, "server.properties");
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, "log4j2.properties"), LOGGING);
  await writeFile(file, serverProperties({ dataDir, port, controllerPort: await freePort() }));
  return file;
}

/** Returns the broker's configuration, with `more` or other values. Data that is replicated in production has one copy here. */
export function serverProperties(
  at: { dataDir: string; port: number; controllerPort: number },
  more: Readonly<Record<string, string | number>> = {},
): string {
  const properties = {
    "process.roles": "broker,controller",
    "node.id": 1,
    listeners: `BROKER://127.0.0.1:${at.port},CONTROLLER://127.0.0.1:${at.controllerPort}`,
    "advertised.listeners": `BROKER://127.0.0.1:${at.port}`,
    "inter.broker.listener.name": "BROKER",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.quorum.voters": `1@127.0.0.1:${at.controllerPort}`,
    "log.dirs": join(at.dataDir, "logs"),
    "auto.create.topics.enable": false,
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 4,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 4,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    ...more,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${String(value).replaceAll("\\", "\\\\")}\n`)
    .join("");
}

async function format(libs: string, dataDir: string, properties: string): Promise<void> {
  const formatted = await readFile(join(dataDir, "logs", "meta.properties")).catch(() => undefined);
  if (formatted) return;
  const quick = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", libs];
  const tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER_ID, "-c", properties];
  const { code, output } = await outputOf(["java", ...quick, ...tool]);
  if (code === 0) return;
  await writeFile(join(dataDir, "format.log"), output);
  throw new StartError(`Kafka's data folder could not be prepared; see the log ${join(dataDir, "format.log")}`);
}

/** Returns the brokers that the cluster advertises, as `host:port`. Errors: the client's error. */
export async function describeKafka(brokers: string[], timeoutMs: number): Promise<string[]> {
  const kafka = new kafkajs.Kafka({
    clientId: "local-start",
    brokers,
    connectionTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    retry: { retries: 0 },
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (cluster.brokers.length === 0) throw new Error("the cluster has no broker yet");
    return cluster.brokers.map((broker) => `${broker.host}:${broker.port}`);
  } finally {
    await admin.disconnect();
  }
}
