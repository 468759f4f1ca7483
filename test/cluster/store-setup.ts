// Runs beside the stores, in their pod: makes MongoDB a replica set with its users, sets Kafka's permissions, and then ends
// TLS in front of Redis, because the Redis of these tests has no TLS of its own. The pod is ready when that listens.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createServer } from "node:tls";
import type { StoreSetup } from "./stores.ts";

const FOLDER = "/etc/stores";
const ATTEMPTS = 120;
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, "utf8");
const { users, permissions, redisTlsPort } = JSON.parse(read("setup.json")) as StoreSetup;

// The libraries of the product's image.
const { MongoClient } = createRequire("/app/packages/mongo/package.json")("mongodb") as typeof import("mongodb");
const kafkajs = createRequire("/app/packages/kafka/package.json")("kafkajs") as typeof import("kafkajs");

async function untilDone(what: string, step: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await step();
      return console.log(what);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      if (attempt % 10 === 0) console.log(`${what}: ${error}`);
      await wait(500);
    }
  }
}

/** Calls `work` as a user, or as nobody: from its own machine a MongoDB without users then allows to create the first. */
async function inMongodb(login: string, work: (client: InstanceType<typeof MongoClient>) => Promise<void>) {
  const tls = { tls: true, ca: read("ca.pem"), cert: read("server.pem"), key: read("server.pem") };
  const uri = `mongodb://${login}127.0.0.1:27017/?directConnection=true`;
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000, ...tls });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

async function setUpMongodb(): Promise<void> {
  const [operator, ...others] = users;
  await untilDone("MongoDB is a replica set", () =>
    inMongodb("", async (client) => {
      const admin = client.db("admin");
      const { isWritablePrimary, setName } = await admin.command({ hello: 1 });
      const members = [{ _id: 0, host: `${process.env.MONGODB_HOST}:27017` }];
      if (!setName) await admin.command({ replSetInitiate: { _id: "rs0", members } });
      if (!isWritablePrimary) throw new Error("not primary yet");
      await admin.command({ createUser: operator!.user, pwd: operator!.password, roles: operator!.roles });
    }),
  );
  await inMongodb(`${operator!.user}:${operator!.password}@`, async (client) => {
    for (const { user, password, roles } of others)
      await client.db("admin").command({ createUser: user, pwd: password, roles });
  });
}

async function setUpKafka(): Promise<void> {
  const client = new kafkajs.Kafka({ brokers: ["127.0.0.1:9092"], logLevel: kafkajs.logLevel.NOTHING });
  const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
  const acl = permissions.map(({ user, on, prefix, operation }) => ({
    principal: `User:${user}`,
    host: "*",
    resourceType: AclResourceTypes[on],
    resourceName: prefix,
    resourcePatternType: ResourcePatternTypes.PREFIXED,
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
  await untilDone("Kafka has permissions", async () => {
    const admin = client.admin();
    try {
      await admin.connect();
      await admin.createAcls({ acl });
    } finally {
      await admin.disconnect();
    }
  });
}

await Promise.all([setUpMongodb(), setUpKafka()]);
const server = createServer({ key: read("server.pem"), cert: read("server.pem") }, (socket) => {
  const redis = connect(6379, "127.0.0.1");
  socket.pipe(redis).on("error", () => socket.destroy());
  redis.pipe(socket).on("error", () => redis.destroy());
});
server.on("tlsClientError", () => undefined);
server.listen(redisTlsPort, () => console.log("Redis takes TLS"));
