import { once } from "node:events";
import { connect } from "node:net";
import { MongoClient } from "mongodb";
import { describeKafka } from "./kafka.ts";
import { pingRedis } from "./redis.ts";
import { StartError } from "./start-error.ts";

const TIMEOUT_MS = 5_000;

/** Returns a connection string without credentials and options, which may be printed. */
export function redacted(uri: string): string {
  return uri.replace(/\/\/.*@/, "//***@").replace(/\?.*$/, "");
}

/** Checks and returns the servers named in the environment; the others are undefined. */
export async function givenServers(env: NodeJS.ProcessEnv) {
  const [mongodbUri, kafkaBrokers, redisUrl] = await Promise.all([
    env.MONGODB_URI ? checkedMongodb(env.MONGODB_URI) : undefined,
    env.KAFKA_BROKERS ? checkedKafka(env.KAFKA_BROKERS) : undefined,
    env.REDIS_URL ? checkedRedis(env.REDIS_URL) : undefined,
  ]);
  return { mongodbUri, kafkaBrokers, redisUrl };
}

/** Checks that MONGODB_URI is a reachable replica set or sharded cluster, which transactions need. */
async function checkedMongodb(uri: string): Promise<string> {
  if (!/^mongodb(\+srv)?:\/\//.test(uri))
    throw new StartError("MONGODB_URI must begin with mongodb:// or mongodb+srv://");
  const hello = await helloOf(uri).catch((cause: unknown) => {
    throw new StartError(`MONGODB_URI (${redacted(uri)}) ${faultOf(cause)}`, { cause });
  });
  if (hello.setName || hello.msg === "isdbgrid") return uri;
  throw new StartError(`MONGODB_URI (${redacted(uri)}) is a single server, but transactions need a replica set`);
}

async function helloOf(uri: string) {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: TIMEOUT_MS, connectTimeoutMS: TIMEOUT_MS });
  try {
    const admin = client.db("admin");
    const hello = await admin.command({ hello: 1 });
    // Anybody may call `hello`; this call needs permission to read.
    await client.db().listCollections({}, { nameOnly: true }).toArray();
    return hello;
  } finally {
    await client.close();
  }
}

/** Checks that each broker of KAFKA_BROKERS (comma-separated `host:port`) answers, and the addresses that it advertises. */
async function checkedKafka(list: string): Promise<string[]> {
  const brokers = list.split(",").map((broker) => broker.trim());
  const wrong = brokers.find((broker) => !/^(\[[\da-f:]+\]|[^\s:/@]+):\d{1,5}$/i.test(broker));
  if (wrong !== undefined) {
    throw new StartError("KAFKA_BROKERS must be a comma-separated list of host:port, without a scheme or credentials");
  }
  for (const broker of brokers) {
    const advertised = await describeKafka([broker], TIMEOUT_MS).catch((cause: unknown) => {
      throw new StartError(`KAFKA_BROKERS: ${broker} ${faultOf(cause)}`, { cause });
    });
    await Promise.all(advertised.map((address) => checkAdvertised(broker, address)));
  }
  return brokers;
}

async function checkAdvertised(broker: string, address: string): Promise<void> {
  const split = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, split), port: Number(address.slice(split + 1)) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    const text = `KAFKA_BROKERS: ${broker} answers, but advertises ${address}, which cannot be reached from here`;
    throw new StartError(text, { cause });
  } finally {
    socket.destroy();
  }
}

/** Checks that REDIS_URL is a reachable Redis. */
async function checkedRedis(url: string): Promise<string> {
  if (!/^rediss?:\/\//.test(url)) throw new StartError("REDIS_URL must begin with redis:// or rediss://");
  await pingRedis(url, TIMEOUT_MS).catch((cause: unknown) => {
    throw new StartError(`REDIS_URL (${redacted(url)}) ${faultOf(cause)}`, { cause });
  });
  return url;
}

/** Describes a client's error for the user who set the variable, as the end of a sentence. */
export function faultOf(fault: unknown): string {
  const text = causesOf(fault)
    .map((error) => `${error.name} ${error.message}`)
    .join(" ");
  if (/ENOTFOUND|EAI_AGAIN|ENODATA/.test(text)) return "names a host that does not exist";
  if (/ParseError|MongoAPIError|Invalid URL/.test(text)) return "is not a valid address";
  if (/ECONNREFUSED/.test(text)) return "accepts no connections: is it running there?";
  if (/certificate|TLS|SSL/i.test(text)) return "cannot be reached over TLS";
  if (/auth|WRONGPASS|NOPERM|credential/i.test(text)) return "refuses the credentials";
  return `does not answer within ${TIMEOUT_MS / 1000} s: is it running, and reachable from here?`;
}

/** Returns the error and its causes, outermost first. Errors of another realm are recognized by their shape. */
function causesOf(fault: unknown): Error[] {
  const error = fault as Error | null | undefined;
  return typeof error?.message === "string" ? [error, ...causesOf(error.cause)] : [];
}
