import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "@vvs/logging";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Client, createClient } from "@vvs/rpc";
import { loadRegistry } from "../../deploy/local/registry.ts";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { migrateAll } from "../../deploy/migrate.ts";
import { dropRun } from "./clean-up.ts";
import { todaysExclusions } from "./exclusions-file.ts";
import { startHelper } from "./helper-process.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

export interface StackOptions {
  readonly servers: { readonly mongodbUri: string; readonly kafkaBrokers: readonly string[] };
  /** Prefix of the names of databases and, followed by a dot, of topics. */
  readonly prefix: string;
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Registry file to load, instead of the tests' own. */
  readonly registry?: string;
  /** Options for Node in the processes of both services. */
  readonly nodeOptions?: readonly string[];
  readonly log: (line: string) => void;
}

/** The verification service and the entity service, in their own processes with their own databases and topics. */
export interface VerificationStack {
  readonly environment: Readonly<Record<string, string>>;
  /** As the gateway calls them. */
  readonly verifications: Client<typeof VerificationService>;
  readonly jobs: Client<typeof JobService>;
  readonly entities: Client<typeof EntityService>;
  readonly ports: { readonly entity: ServiceProcess["ports"]; readonly verification: ServiceProcess["ports"] };
  /** Ids of the processes, as they were started first. */
  readonly pids: { readonly entity: number; readonly verification: number };
  /** Kills the verification service without letting it finish anything. */
  killVerification(): Promise<void>;
  /** Starts it again at the same address. */
  startVerification(): Promise<void>;
  /** Stops the processes; databases and topics stay for `remove`. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export async function startVerificationStack(options: StackOptions): Promise<VerificationStack> {
  const { servers, prefix, folder, log } = options;
  const logDir = join(folder, "log");
  mkdirSync(logDir, { recursive: true });
  const environment: Record<string, string> = {
    MONGODB_URI: servers.mongodbUri,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: servers.kafkaBrokers.join(","),
    KAFKA_TOPIC_PREFIX: `${prefix}.`,
    ...options.environment,
  };
  const { TIN_KEYS, TIN_HASH_KEYS } = generateSecrets();
  const secrets = { TIN_KEYS, TIN_HASH_KEYS };
  await migrateAll({
    mongodb: { uri: servers.mongodbUri },
    databasePrefix: prefix,
    kafka: {
      brokers: [...servers.kafkaBrokers],
      clientId: "migrate",
      topicPrefix: `${prefix}.`,
      logger: createLogger({ service: "migrate", level: "warn" }),
    },
  });
  await loadRegistry({
    registry: options.registry ?? join(projectRoot, "test/fixtures/sam/registry.dat"),
    exclusions: todaysExclusions(folder),
    environment: { ...environment, ...secrets },
    log,
  });
  const entity = await startServiceProcess({
    name: "entity",
    environment: { ...environment, ...secrets },
    logFile: join(logDir, "entity.log"),
    nodeOptions: options.nodeOptions,
  });
  const account = await startHelper({
    name: "account",
    script: join(import.meta.dirname, "played-account.ts"),
  });
  const addresses = {
    ENTITY_ADDRESS: `127.0.0.1:${entity.ports.rpc}`,
    ACCOUNT_ADDRESS: `127.0.0.1:${account.line}`,
  };
  const startVerification = (ports?: ServiceProcess["ports"]) =>
    startServiceProcess({
      name: "verification",
      environment: { ...environment, ...addresses },
      logFile: join(logDir, "verification.log"),
      ports,
      nodeOptions: options.nodeOptions,
    });
  let verification = await startVerification();
  const client = <S extends typeof EntityService | typeof VerificationService | typeof JobService>(
    service: S,
    { ports }: ServiceProcess,
  ) => createClient(service, { address: `127.0.0.1:${ports.rpc}`, caller: "gateway", tls: undefined });
  const verifications = client(VerificationService, verification);
  const jobs = client(JobService, verification);
  const entities = client(EntityService, entity);
  return {
    environment,
    verifications,
    jobs,
    entities,
    ports: { entity: entity.ports, verification: verification.ports },
    pids: { entity: entity.pid, verification: verification.pid },
    killVerification: () => verification.kill(),
    async startVerification() {
      verification = await startVerification(verification.ports);
    },
    async stop() {
      verifications.close();
      jobs.close();
      entities.close();
      await verification.stop();
      await entity.stop();
      await account.stop();
    },
    remove: () => dropRun(environment, prefix),
  };
}
