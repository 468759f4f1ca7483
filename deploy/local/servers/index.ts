import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockData } from "./data-lock.ts";
import { givenServers } from "./given.ts";
import { fetchKafkaLibs, type KafkaOptions, kafkaNeeds, startKafka } from "./kafka.ts";
import { fetchMongod, type MongodbOptions, mongodbNeeds, startMongodb } from "./mongodb.ts";
import { requirePrerequisites } from "./prerequisites.ts";
import { fetchRedisServer, redisNeeds, startRedis } from "./redis.ts";

export { StartError } from "./start-error.ts";

export type Servers = {
  mongodbUri: string;
  kafkaBrokers: string[];
  redisUrl: string;
  /** Stops the servers started here, but none that the environment named. */
  stop: () => Promise<void>;
};

export type StartServersOptions = {
  /** Data and logs, one folder per server. */
  dataDir: string;
  cacheDir: string;
  log: (line: string) => void;
  env: NodeJS.ProcessEnv;
} & Pick<MongodbOptions, "waitsForDisk"> &
  Pick<KafkaOptions, "isBrief">;

/** Returns the folder of downloaded programs: VVS_CACHE_DIR, else `.cache/servers` of the project. */
export function serverCacheDir(env: NodeJS.ProcessEnv): string {
  const project = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
  return env.VVS_CACHE_DIR || join(project, ".cache", "servers");
}

/**
 * Returns the three servers of a run. Those named by MONGODB_URI, KAFKA_BROKERS and REDIS_URL are checked; the others are
 * started on free ports of 127.0.0.1. If one fails, all started ones are stopped. Errors: StartError of that server.
 */
export async function startServers(options: StartServersOptions): Promise<Servers> {
  const { dataDir, cacheDir, log, env, waitsForDisk, isBrief } = options;
  const { mongodbUri, kafkaBrokers, redisUrl } = await givenServers(env);
  const needs = [
    mongodbUri ? [] : mongodbNeeds(cacheDir),
    kafkaBrokers ? [] : kafkaNeeds(cacheDir),
    redisUrl ? [] : redisNeeds(cacheDir),
  ];
  await requirePrerequisites((await Promise.all(needs)).flat());
  const unlock = await lockData(dataDir);
  const own = (name: string) => ({ dataDir: join(dataDir, name), cacheDir, log });
  const started = await Promise.allSettled([
    mongodbUri ? { uri: mongodbUri, stop: keepRunning } : startMongodb({ ...own("mongodb"), waitsForDisk }),
    kafkaBrokers ? { brokers: kafkaBrokers, stop: keepRunning } : startKafka({ ...own("kafka"), isBrief }),
    redisUrl ? { url: redisUrl, stop: keepRunning } : startRedis(own("redis")),
  ] as const);
  const stop = async () => {
    await Promise.all(started.map((part) => (part.status === "fulfilled" ? part.value.stop() : undefined)));
    await unlock();
  };
  const [mongodb, kafka, redis] = started;
  if (mongodb.status === "rejected" || kafka.status === "rejected" || redis.status === "rejected") {
    await stop();
    throw started.find((part) => part.status === "rejected")?.reason;
  }
  return { mongodbUri: mongodb.value.uri, kafkaBrokers: kafka.value.brokers, redisUrl: redis.value.url, stop };
}

/** Returns the programs that a run starts, and downloads missing ones. Errors: StartError that names missing tools. */
export async function fetchStorePrograms(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<{ mongod: string; kafkaLibs: string; redisServer: string }> {
  const cache = { cacheDir: serverCacheDir(env), log };
  const needs = [mongodbNeeds(cache.cacheDir), kafkaNeeds(cache.cacheDir), redisNeeds(cache.cacheDir)];
  await requirePrerequisites((await Promise.all(needs)).flat());
  const [mongod, kafkaLibs, redisServer] = await Promise.all([
    fetchMongod(cache),
    fetchKafkaLibs(cache),
    fetchRedisServer(cache),
  ]);
  return { mongod, kafkaLibs, redisServer };
}

/** Does nothing: a server named by the environment is not stopped. */
async function keepRunning(): Promise<void> {}
