import { randomBytes } from "node:crypto";
import { createIdempotencyStore } from "@vvs/idempotency";
import { topicFor } from "@vvs/kafka";
import { createLogger, type Logger } from "@vvs/logging";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { createOutbox } from "@vvs/outbox";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { createClient, serveRpc } from "@vvs/rpc";
import { createConcluder } from "../conclude.ts";
import { type EvidenceSettings, openEvidence } from "../evidence/open.ts";
import { migrate } from "../migrate.ts";
import { createMonitorRuns } from "../monitor-runs.ts";
import { createObserveAttempts } from "../observe-attempts.ts";
import { startAttemptCounts } from "../providers/attempt-counts.ts";
import { type CircuitSettings, defaultCircuitSettings } from "../providers/circuit.ts";
import { createCircuitBreakers } from "../providers/circuit-breakers.ts";
import type { Provider } from "../providers/provider.ts";
import { createReadProviderHistory } from "../providers/provider-history.ts";
import { createProviderReport } from "../providers/provider-report.ts";
import { createProviderRegistry } from "../providers/registry.ts";
import { createSamGovExtract } from "../providers/sam-gov-extract.ts";
import { createSandboxTurns } from "../providers/sandbox-turns.ts";
import { callers, createHandlers } from "../service.ts";
import { createVerificationStore } from "../store.ts";
import { createSubjects } from "../subject.ts";
import { createVerifier } from "../verifier.ts";
import { startTestEntities } from "./entities.ts";

/**
 * The service on a real MongoDB and real gRPC, beside a played entity service. `live` takes the place of the live
 * providers; the sandbox's are the real ones.
 */
export async function startTestService(options: {
  mongodbUri: string;
  live?: readonly Provider[];
  topicPrefix?: string;
  /** What differs from the default. */
  circuit?: Partial<CircuitSettings>;
  /** Takes the service's lines; nothing does where absent. */
  logger?: Logger;
  evidence?: Partial<EvidenceSettings>;
  /** The service's clock. */
  now?: () => Date;
  /** Of another test service, to run beside it on its databases. */
  prefix?: string;
}) {
  const now = options.now ?? (() => new Date());
  const logger = options.logger ?? createLogger({ service: "verification", level: "silent" });
  const prefix = options.prefix ?? `t${randomBytes(5).toString("hex")}_`;
  const stopping = new AbortController().signal;
  const mongo = await connectMongo({ uri: options.mongodbUri, service: "test", logger, stopping });
  await migrate({ client: mongo, prefix });
  const databases = environmentDatabases(mongo, prefix, "verification");
  const entities = await startTestEntities();
  const entityClient = createClient(EntityService, {
    address: `127.0.0.1:${entities.server.port}`,
    caller: "verification",
    tls: undefined,
  });

  const settings = { ...defaultCircuitSettings, ...options.circuit };
  const breakers = {
    live: createCircuitBreakers({ db: databases.live, settings, quotas: {}, now, logger }),
    sandbox: createCircuitBreakers({ db: databases.sandbox, settings, quotas: {}, now, logger }),
  };
  const counts = {
    live: startAttemptCounts({ db: databases.live, now, logger }),
    sandbox: startAttemptCounts({ db: databases.sandbox, now, logger }),
  };
  const outboxes = { live: createOutbox({ db: databases.live }), sandbox: createOutbox({ db: databases.sandbox }) };
  const kept: EvidenceSettings = { store: "mongodb", s3: undefined, keyPrefix: "", retentionDays: 0 };
  const evidence = await openEvidence({
    databases,
    settings: { ...kept, ...options.evidence },
    now,
    logger,
  });
  const store = createVerificationStore({ client: mongo, databases, outboxes, ...evidence });
  const live = options.live ?? [createSamGovExtract({ entities: entityClient, now })];
  const providers = createProviderRegistry({ live, entities: entityClient, turns: createSandboxTurns(databases), now });
  const limits = { callMs: 23_000, checkMs: 20_000, attemptMs: 9_000 };
  const observe = createObserveAttempts({ breakers, counts, logger });
  const report = createProviderReport({ providers, breakers, now });
  const readHistory = createReadProviderHistory({ databases, providers });
  const conclude = createConcluder({ store, entities: entityClient, providers, observe, limits, now });
  const verifier = createVerifier({
    store,
    entities: entityClient,
    conclude,
    topicFor: (environment, topic) => topicFor({ prefix: options.topicPrefix, environment, topic }),
    onStored: () => undefined,
    limits,
    now,
    logger,
  });
  const subjects = createSubjects(entityClient);
  const idempotency = {
    live: createIdempotencyStore({ db: databases.live, leaseMs: 30_000, now }),
    sandbox: createIdempotencyStore({ db: databases.sandbox, leaseMs: 30_000, now }),
  };
  const server = await serveRpc({
    service: VerificationService,
    handlers: createHandlers({ store, idempotency, subjects, verifier, report, readHistory }),
    callers,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    translate: translateMongoError,
  });
  const client = createClient(VerificationService, {
    address: `127.0.0.1:${server.port}`,
    caller: "gateway",
    tls: undefined,
  });
  return {
    client,
    port: server.port,
    entities,
    databases,
    prefix,
    runOf: (environment: "live" | "sandbox") => createMonitorRuns({ environment, store, subjects, verifier }),
    async stop() {
      client.close();
      await server.close();
      await evidence.close();
      await Promise.all([breakers.live.flush(), breakers.sandbox.flush(), counts.live.close(), counts.sandbox.close()]);
      entityClient.close();
      await entities.server.close();
      if (!options.prefix) await Promise.all([databases.live.dropDatabase(), databases.sandbox.dropDatabase()]);
      await mongo.close();
    },
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
