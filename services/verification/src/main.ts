import { randomUUID } from "node:crypto";
import { createIdempotencyStore } from "@vvs/idempotency";
import { createKafka, kafkaOptions } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { createOutbox, runOutboxRelay } from "@vvs/outbox";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { createClient, serveRpc, tlsFiles } from "@vvs/rpc";
import { type Environment, environments } from "@vvs/tenant";
import { createConcluder } from "./conclude.ts";
import { circuitSettings, evidenceSettings, loadVerificationConfig, timeLimits } from "./config.ts";
import { openEvidence } from "./evidence/open.ts";
import { observeProviders } from "./metrics.ts";
import { createObserveAttempts } from "./observe-attempts.ts";
import { startAttemptCounts } from "./providers/attempt-counts.ts";
import { createCircuitBreakers } from "./providers/circuit-breakers.ts";
import { createLiveProviders } from "./providers/live-providers.ts";
import { dailyQuotas } from "./providers/provider-config.ts";
import { createReadProviderHistory } from "./providers/provider-history.ts";
import { createProviderReport } from "./providers/provider-report.ts";
import { createProviderRegistry } from "./providers/registry.ts";
import { createSandboxTurns } from "./providers/sandbox-turns.ts";
import { startRunConsumers } from "./run-consumers.ts";
import { callers, createHandlers } from "./service.ts";
import { createVerificationStore } from "./store.ts";
import { createSubjects } from "./subject.ts";
import { createVerifier } from "./verifier.ts";

const NAME = "verification";
/** An idempotency key's holder must have ended by then: the call's 25 s and some room. */
const CALL_LEASE_MS = 30_000;
/** What calls may take to end when the service stops. */
const GRACE_MS = 25_000;

await runService(NAME, loadVerificationConfig, async ({ config, logger, onClose, stopping }) => {
  const now = () => new Date();
  const tls = tlsFiles(config);
  const limits = timeLimits(config);

  const client = await connectMongo({ uri: config.MONGODB_URI, service: NAME, logger, stopping });
  onClose("mongodb", () => client.close());
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, NAME);
  const entities = createClient(EntityService, { address: config.ENTITY_ADDRESS, caller: NAME, tls });
  onClose("entity client", () => entities.close());
  const kafka = createKafka({ ...kafkaOptions(config), clientId: NAME, logger });

  const perEnvironment = <T>(make: (environment: Environment) => T) =>
    Object.fromEntries(environments.map((environment) => [environment, make(environment)])) as Record<Environment, T>;
  const relays = perEnvironment((environment) => {
    const producer = kafka.producer();
    onClose(`${environment} producer`, () => producer.close());
    const relay = runOutboxRelay({ db: databases[environment], producer, owner: randomUUID(), logger });
    onClose(`${environment} outbox relay`, () => relay.stop());
    return relay;
  });

  const circuits = { settings: circuitSettings(config), quotas: dailyQuotas(config), now, logger };
  const breakers = perEnvironment((environment) => createCircuitBreakers({ db: databases[environment], ...circuits }));
  onClose("circuit breakers", () => Promise.all(environments.map((environment) => breakers[environment].flush())));
  const counts = perEnvironment((environment) => startAttemptCounts({ db: databases[environment], now, logger }));
  onClose("attempt counts", () => Promise.all(environments.map((environment) => counts[environment].close())));
  const outboxes = perEnvironment((environment) => createOutbox({ db: databases[environment] }));
  const evidence = await openEvidence({ databases, settings: evidenceSettings(config), now, logger });
  onClose("evidence", () => evidence.close());
  const store = createVerificationStore({ client, databases, outboxes, ...evidence });
  const { takeCall } = breakers.live;
  const live = createLiveProviders({ config, entities, takeCall, now, logger, onClose });
  const providers = createProviderRegistry({ live, entities, turns: createSandboxTurns(databases), now });
  const observe = createObserveAttempts({ breakers, counts, logger });
  const report = createProviderReport({ providers, breakers, now });
  const readHistory = createReadProviderHistory({ databases, providers });
  onClose("provider gauges", observeProviders(report.observe));
  const conclude = createConcluder({ store, entities, providers, observe, limits, now });
  const onStored = (environment: Environment) => relays[environment].nudge();
  const verifier = createVerifier({
    store,
    entities,
    conclude,
    topicFor: kafka.topicFor,
    onStored,
    limits,
    now,
    logger,
  });

  const subjects = createSubjects(entities);
  const idempotency = perEnvironment((environment) =>
    createIdempotencyStore({ db: databases[environment], leaseMs: CALL_LEASE_MS, now }),
  );
  const server = await serveRpc({
    service: VerificationService,
    handlers: createHandlers({ store, idempotency, subjects, verifier, report, readHistory }),
    callers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
  });
  const atOnce = { live: config.LIVE_RUNS_AT_ONCE, sandbox: config.SANDBOX_RUNS_AT_ONCE };
  const consumers = startRunConsumers({ service: NAME, kafka, atOnce, store, subjects, verifier, stopping, logger });
  // Calls and runs end side by side: either may take as long as its providers do.
  onClose("calls and runs", () => Promise.all([server.close(GRACE_MS), consumers.stop()]));
  await consumers.ready;
  logger.info({ port: server.port }, "serving");
});
