import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../deploy/image/run.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { CLUSTER_ID, describeKafka, fetchKafkaLibs, serverProperties } from "../../deploy/local/servers/kafka.ts";
import { launch, type ManagedServer, type ServerOptions } from "../../deploy/local/servers/managed.ts";
import type { CertificateFiles } from "./certificates.ts";

export const KAFKA_USER = { username: "vvs", password: "secret" };
/** How long the broker takes a client's token for valid; ten seconds before, the client sends a new one. */
const TOKEN_LIFETIME_MS = 11_000;

export interface SecuredKafka extends ManagedServer {
  /** Takes only TLS connections with a certificate of the authority, and only signed-in clients. */
  readonly brokers: string;
  /** The same broker, without any of that. */
  readonly openBrokers: string;
}

/** Starts Kafka with the mechanisms PLAIN, SCRAM and OAUTHBEARER. */
export async function startSecuredKafka(options: ServerOptions, files: CertificateFiles): Promise<SecuredKafka> {
  const libs = join(await fetchKafkaLibs(options), "*");
  const securedPort = await freePort();
  const server = await launch({
    name: "Kafka",
    options,
    command: async (port) => {
      const properties = join(options.dataDir, "server.properties");
      await mkdir(options.dataDir, { recursive: true });
      const at = { dataDir: options.dataDir, port, securedPort, controllerPort: await freePort() };
      await writeFile(properties, serverProperties(at, securedListener(at, files)));
      const tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER_ID];
      const users = ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((mechanism) => [
        "--add-scram",
        `${mechanism}=[name=${KAFKA_USER.username},password=${KAFKA_USER.password}]`,
      ]);
      await run("java", ["-XX:TieredStopAtLevel=1", "-cp", libs, ...tool, "-c", properties, ...users]);
      return { command: "java", args: ["-Xms128m", "-Xmx512m", "-cp", libs, "kafka.Kafka", properties] };
    },
    probe: async (port) => {
      await describeKafka([`127.0.0.1:${port}`], 2_000);
    },
  });
  return { ...server, brokers: `127.0.0.1:${securedPort}`, openBrokers: `127.0.0.1:${server.port}` };
}

/** The listener for signed-in clients with certificates, beside the open one. */
function securedListener(
  { port, securedPort, controllerPort }: { port: number; securedPort: number; controllerPort: number },
  files: CertificateFiles,
) {
  const login = "org.apache.kafka.common.security";
  const listener = "listener.name.secured";
  return {
    listeners: `BROKER://127.0.0.1:${port},SECURED://127.0.0.1:${securedPort},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `BROKER://127.0.0.1:${port},SECURED://127.0.0.1:${securedPort}`,
    "listener.security.protocol.map": "BROKER:PLAINTEXT,SECURED:SASL_SSL,CONTROLLER:PLAINTEXT",
    [`${listener}.ssl.keystore.type`]: "PEM",
    [`${listener}.ssl.keystore.location`]: files.server,
    [`${listener}.ssl.truststore.type`]: "PEM",
    [`${listener}.ssl.truststore.location`]: files.ca,
    [`${listener}.ssl.client.auth`]: "required",
    [`${listener}.sasl.enabled.mechanisms`]: "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    [`${listener}.plain.sasl.jaas.config`]: `${login}.plain.PlainLoginModule required user_${KAFKA_USER.username}="${KAFKA_USER.password}";`,
    [`${listener}.scram-sha-256.sasl.jaas.config`]: `${login}.scram.ScramLoginModule required;`,
    [`${listener}.scram-sha-512.sasl.jaas.config`]: `${login}.scram.ScramLoginModule required;`,
    [`${listener}.oauthbearer.sasl.jaas.config`]: `${login}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    [`${listener}.oauthbearer.connections.max.reauth.ms`]: TOKEN_LIFETIME_MS,
  };
}

/** Returns a token that Kafka's development validator accepts: JSON without a signature, valid for an hour. */
export function unsignedToken(subject: string): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  const now = Math.floor(Date.now() / 1_000);
  return `${part({ alg: "none" })}.${part({ sub: subject, iat: now - 60, exp: now + 3_600 })}.`;
}
