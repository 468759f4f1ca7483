import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Authority, Certificate } from "@vvs/egress/testing/certificates";
import { databaseName } from "@vvs/mongo";
import { topology } from "../../deploy/local/topology.ts";
import type { Cluster } from "./cluster.ts";
import type { Images } from "./images.ts";
import { restrictedPod } from "./restricted-pod.ts";

const DATABASE_PREFIX = "vvs_";
const TOPIC_PREFIX = "vvs.";
const REDIS_TLS_PORT = 6380;
const KAFKA_USERS = ["services", "migration"] as const;

interface Role {
  readonly role: string;
  readonly db: string;
}

/** What the stores' pod sets up. The first user of MongoDB is its operator. */
export interface StoreSetup {
  readonly users: readonly { readonly user: string; readonly password: string; readonly roles: readonly Role[] }[];
  readonly permissions: readonly {
    readonly user: string;
    readonly on: "TOPIC" | "GROUP";
    readonly prefix: string;
    readonly operation: "READ" | "WRITE" | "DESCRIBE" | "CREATE";
  }[];
  readonly redisTlsPort: number;
}

/** MongoDB, Kafka and Redis in a namespace of their own, as a company has them. They take only TLS and signed-in users. */
export interface Stores {
  readonly namespace: string;
  readonly podIp: string;
  readonly kafka: { readonly brokers: readonly string[]; readonly topicPrefix: string };
  readonly mongodbCertificate: Certificate;
  readonly redisUrl: string;
  /** Returns the address with the credentials of a service's own user, or the migration's. */
  mongodbUri(user: string): string;
  kafkaPassword(user: (typeof KAFKA_USERS)[number]): string;
}

/** Services with databases. */
const owners = Object.keys(topology).filter((name) => topology[name]!.stores.includes("mongodb"));

/** Returns the databases of a service. Account has one for both environments. */
function databasesOf(service: string): string[] {
  const names = service === "account" ? [service] : [`${service}_live`, `${service}_sandbox`];
  return names.map((name) => databaseName(DATABASE_PREFIX, name));
}

const readWrite = (services: readonly string[]): Role[] =>
  services.flatMap(databasesOf).map((db) => ({ role: "readWrite", db }));

/** Starts the stores with the users and rights that docs/stores.md lists, and no more. */
export async function startStores(cluster: Cluster, images: Images, authority: Authority): Promise<Stores> {
  const { namespace } = cluster;
  const hostOf = (store: string) => `${store}.${namespace}.svc`;
  const passwords = new Map<string, string>();
  const passwordOf = (user: string) => {
    if (!passwords.has(user)) passwords.set(user, randomBytes(12).toString("hex"));
    return passwords.get(user)!;
  };
  const users = [
    { user: "operator", roles: [{ role: "root", db: "admin" }] },
    { user: "migration", roles: readWrite(owners) },
    ...owners.map((service) => ({ user: service, roles: readWrite([service]) })),
  ].map((one) => ({ ...one, password: passwordOf(one.user) }));
  const may = (user: string, on: "TOPIC" | "GROUP", operations: StoreSetup["permissions"][number]["operation"][]) =>
    operations.map((operation) => ({ user, on, prefix: TOPIC_PREFIX, operation }));
  const setup: StoreSetup = {
    users,
    permissions: [
      ...may("services", "TOPIC", ["READ", "WRITE", "DESCRIBE"]),
      ...may("services", "GROUP", ["READ", "DESCRIBE"]),
      ...may("migration", "TOPIC", ["CREATE", "DESCRIBE"]),
    ],
    redisTlsPort: REDIS_TLS_PORT,
  };
  const names = ["mongodb", "kafka", "redis"].map((store) => `DNS:${hostOf(store)}`);
  const server = authority.issue([...names, "IP:127.0.0.1"]);
  const kafkaUsers = KAFKA_USERS.map((user) => ({ user, password: passwordOf(`kafka ${user}`) }));
  await cluster.apply(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "stores" },
      stringData: {
        "ca.pem": authority.ca,
        "server.pem": `${server.key}${server.cert}`,
        "setup.json": JSON.stringify(setup),
        "setup.ts": readFileSync(join(import.meta.dirname, "store-setup.ts"), "utf8"),
        "server.properties": kafkaProperties(hostOf("kafka")),
        "log4j2.properties": LOGGING,
        "kafka.sh": startKafka(kafkaUsers),
        "redis.conf": redisConfiguration(passwordOf("redis")),
      },
    },
    ...Object.entries({ mongodb: 27017, kafka: 9096, redis: REDIS_TLS_PORT }).map(([name, port]) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { clusterIP: "None", publishNotReadyAddresses: true, selector: { app: "stores" }, ports: [{ port }] },
    })),
    storesPod(images, hostOf("mongodb")),
  );
  await cluster.kubectl(["wait", "--for=condition=Ready", "pod/stores", "--timeout=180s"]);
  const { status } = await cluster.get<{ status: { podIP: string } }>(["pod", "stores"]);
  return {
    namespace,
    podIp: status.podIP,
    kafka: { brokers: [`${hostOf("kafka")}:9096`], topicPrefix: TOPIC_PREFIX },
    mongodbCertificate: authority.issue(["DNS:product"]),
    redisUrl: `rediss://gateway:${passwordOf("redis")}@${hostOf("redis")}:${REDIS_TLS_PORT}`,
    mongodbUri: (user) => `mongodb://${user}:${passwordOf(user)}@${hostOf("mongodb")}:27017/?replicaSet=rs0`,
    kafkaPassword: (user) => passwordOf(`kafka ${user}`),
  };
}

function storesPod(images: Images, mongodbHost: string): object {
  // The key file must be private to its owner, which a mounted one is not.
  const keyFile =
    "mkdir -p /data/mongodb && head -c 96 /dev/urandom | base64 -w0 >/tmp/members.key && chmod 600 /tmp/members.key";
  const mongod = [
    ...[
      "mongod",
      "--replSet",
      "rs0",
      "--bind_ip_all",
      "--port",
      "27017",
      "--dbpath",
      "/data/mongodb",
      "--nounixsocket",
    ],
    ...["--wiredTigerCacheSizeGB", "0.5", "--oplogSize", "990"],
    ...["--setParameter", "transactionLifetimeLimitSeconds=10", "--auth", "--keyFile", "/tmp/members.key"],
    ...["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", "/etc/stores/server.pem"],
    ...["--tlsCAFile", "/etc/stores/ca.pem"],
  ];
  const shell = (script: string) => ["sh", "-c", script];
  // Without a request, a store gets hardly any CPU while many services start, and calls fail for a reason that no company has.
  const cpu = (requested: string) => ({ resources: { requests: { cpu: requested } } });
  const listens = { tcpSocket: { port: REDIS_TLS_PORT }, periodSeconds: 1 };
  return restrictedPod({
    name: "stores",
    files: { secret: { secretName: "stores", defaultMode: 0o440 } },
    at: "/etc/stores",
    containers: [
      {
        name: "mongodb",
        image: images.mongodb,
        command: shell(`${keyFile} && exec ${mongod.join(" ")}`),
        ...cpu("400m"),
      },
      { name: "kafka", image: images.kafka, command: ["sh", "/etc/stores/kafka.sh"], ...cpu("200m") },
      { name: "redis", image: images.redis, command: ["redis-server", "/etc/stores/redis.conf"], ...cpu("100m") },
      {
        name: "setup",
        image: images.product,
        command: ["node", "/etc/stores/setup.ts"],
        env: [{ name: "MONGODB_HOST", value: mongodbHost }],
        readinessProbe: listens,
      },
    ],
  });
}

/** Its own listeners are on the pod's loopback; others sign in through TLS, and have only the rights that are set. */
function kafkaProperties(host: string): string {
  const scram = "org.apache.kafka.common.security.scram.ScramLoginModule";
  return `process.roles=broker,controller
node.id=1
listeners=SECURED://:9096,LOCAL://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
advertised.listeners=SECURED://${host}:9096,LOCAL://127.0.0.1:9092
inter.broker.listener.name=LOCAL
controller.listener.names=CONTROLLER
listener.security.protocol.map=SECURED:SASL_SSL,LOCAL:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:9093
listener.name.secured.ssl.keystore.type=PEM
listener.name.secured.ssl.keystore.location=/etc/stores/server.pem
listener.name.secured.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secured.scram-sha-512.sasl.jaas.config=${scram} required;
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs=/data/kafka
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
`;
}

const LOGGING = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = WARN
rootLogger.appenderRef.out.ref = out
`;

function startKafka(users: readonly { user: string; password: string }[]): string {
  const scram = users.map(({ user, password }) => `--add-scram 'SCRAM-SHA-512=[name=${user},password=${password}]'`);
  const format = "kafka.tools.StorageTool format --ignore-formatted -t bG9jYWwtdmVuZG9yLXZ2cw";
  return `set -eu
java -XX:TieredStopAtLevel=1 -Xmx128m -cp '/opt/kafka/libs/*' ${format} -c /etc/stores/server.properties ${scram.join(" ")}
exec java -Xms128m -Xmx512m -Dlog4j2.configurationFile=/etc/stores/log4j2.properties -cp '/opt/kafka/libs/*' kafka.Kafka /etc/stores/server.properties
`;
}

const redisConfiguration = (password: string) => `bind 127.0.0.1
dir /data
save ""
appendonly yes
maxmemory 256mb
user default off
user gateway on >${password} ~vvs_* +@read +@write +@connection +@scripting +time +info
`;
