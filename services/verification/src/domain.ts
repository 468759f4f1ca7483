import { createIdempotencyStore } from "@vvs/idempotency";
import type { Kafka } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { createOutbox } from "@vvs/outbox";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client, Handlers } from "@vvs/rpc";
import { type Environment, environments } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { createHandlers } from "./api.ts";
import { createConcluder, type TimeLimits } from "./checks/conclude.ts";
import { createFactForwarder, type FactForwarder } from "./checks/forward-facts.ts";
import { createObserveAttempts } from "./checks/observe-attempts.ts";
import { createSubjects, type Subjects } from "./checks/subjects.ts";
import { createVerifier, type Verifier } from "./checks/verifier.ts";
import { type EvidenceSettings, openEvidence } from "./evidence/open.ts";
import { startAttemptCounts } from "./provider-health/attempt-counts.ts";
import type { CircuitSettings } from "./provider-health/circuit.ts";
import { type CircuitBreakers, createCircuitBreakers } from "./provider-health/circuit-breakers.ts";
import { createReadProviderHistory } from "./provider-health/provider-history.ts";
import { createReportProviders, type ReportProviders } from "./provider-health/provider-report.ts";
import type { Provider } from "./providers/provider.ts";
import { createProviders } from "./providers/providers.ts";
import { createCountSandboxCall } from "./providers/sandbox/sandbox-calls.ts";
import { createVerificationStore, type VerificationStore } from "./store.ts";

/** How long an idempotency key is held, in milliseconds: a call takes at most 25 s. */
const CALL_LEASE_MS = 30_000;

export interface DomainOptions {
  readonly client: MongoClient;
  readonly databases: EnvironmentDatabases;
  readonly entities: Client<typeof EntityService>;
  /** Creates the live providers; `takeCall` counts a call against its provider's quota before the call is made. */
  readonly liveProviders: (takeCall: CircuitBreakers["takeCall"]) => readonly Provider[];
  readonly circuit: CircuitSettings;
  /** Calls per UTC day by live or sandbox provider; a provider without a quota is absent. */
  readonly quotas: Readonly<Record<string, number>>;
  readonly limits: TimeLimits;
  readonly evidence: EvidenceSettings;
  /** Maximum number of verifications whose facts are being forwarded; the forwarder's default where absent. */
  readonly maxForwarding?: number;
  readonly topicFor: Kafka["topicFor"];
  /** Called when a verification was stored, so that it can be published. */
  readonly onStored: (environment: Environment) => void;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Registers what must be closed when the service stops. */
  readonly onClose: (name: string, close: () => unknown) => void;
}

export interface Domain {
  readonly handlers: Handlers<typeof VerificationService>;
  readonly store: VerificationStore;
  readonly subjects: Subjects;
  readonly verifier: Verifier;
  readonly facts: FactForwarder;
  readonly report: ReportProviders;
}

/** Creates the whole service on the given databases, without its gRPC server and its Kafka connections. */
export async function createDomain(options: DomainOptions): Promise<Domain> {
  const { client, databases, entities, limits, now, logger, onClose } = options;

  const circuits = { settings: options.circuit, quotas: options.quotas, now, logger };
  const breakers = perEnvironment((environment) => createCircuitBreakers({ db: databases[environment], ...circuits }));
  onClose("circuit breakers", () => Promise.all(environments.map((environment) => breakers[environment].flush())));
  const counts = perEnvironment((environment) => startAttemptCounts({ db: databases[environment], now, logger }));
  onClose("attempt counts", () => Promise.all(environments.map((environment) => counts[environment].close())));
  const outboxes = perEnvironment((environment) => createOutbox({ db: databases[environment] }));
  const evidence = await openEvidence({ databases, settings: options.evidence, now, logger });
  onClose("evidence", () => evidence.close());
  const store = createVerificationStore({ client, databases, outboxes, ...evidence });

  const live = options.liveProviders(breakers.live.takeCall);
  const providers = createProviders({ live, entities, countCall: createCountSandboxCall(databases), now });
  const observe = createObserveAttempts({ breakers, counts, logger });
  const report = createReportProviders(providers, breakers);
  const readHistory = createReadProviderHistory({ databases, providers });

  const subjects = createSubjects(entities);
  const conclude = createConcluder({ store, entities, subjects, providers, observe, limits, now });
  const facts = createFactForwarder({ entities, now, logger, maxForwarding: options.maxForwarding });
  onClose("facts that are being forwarded", () => facts.settled());
  const { topicFor, onStored } = options;
  const verifier = createVerifier({ store, facts, conclude, topicFor, onStored, limits, now, logger });
  const idempotency = perEnvironment((environment) =>
    createIdempotencyStore({ db: databases[environment], leaseMs: CALL_LEASE_MS, now }),
  );
  const handlers = createHandlers({ store, idempotency, subjects, verifier, report, readHistory });
  return { handlers, store, subjects, verifier, facts, report };
}

/** Creates one of a kind for each environment. */
export function perEnvironment<T>(create: (environment: Environment) => T): Readonly<Record<Environment, T>> {
  return { live: create("live"), sandbox: create("sandbox") };
}
