import type { SecretKey } from "@vvs/config";
import type { Admit } from "@vvs/fair-queue";
import { createIdempotencyStore } from "@vvs/idempotency";
import { type Kafka, topicNames } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { createOutbox, type OutboxRecord } from "@vvs/outbox";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { type Environment, environments, perEnvironment, type Tenant, toProtoEnvironment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { createHandlers } from "./api.ts";
import { createConcluder, type TimeLimits } from "./checks/conclude.ts";
import { createFactForwarder } from "./checks/forward-facts.ts";
import { createObserveAttempts } from "./checks/observe-attempts.ts";
import { createSubjects } from "./checks/subjects.ts";
import { createVerifier } from "./checks/verifier.ts";
import { createReadWithdrawnLoads } from "./checks/withdrawn-loads.ts";
import { type EvidenceSettings, openEvidence } from "./evidence/open.ts";
import { createWatchRecords } from "./freshness/watch-records.ts";
import { createPutWatch } from "./freshness/watches.ts";
import { createJobService } from "./jobs/job-service.ts";
import { createJobs, type Jobs } from "./jobs/jobs.ts";
import type { KeptDays } from "./kept-until.ts";
import type { ReadOrganizationSettings } from "./organization-settings/organization-settings.ts";
import { maxPerOrganization } from "./provider-budgets/budget.ts";
import { createProviderBudgets } from "./provider-budgets/provider-budgets.ts";
import { startAttemptCounts } from "./provider-health/attempt-counts.ts";
import type { CircuitSettings } from "./provider-health/circuit.ts";
import { type CircuitBreakers, createCircuitBreakers } from "./provider-health/circuit-breakers.ts";
import { createReadProviderHistory } from "./provider-health/provider-history.ts";
import { createReportProviders, createShowProviders } from "./provider-health/provider-report.ts";
import type { ProviderAccount } from "./providers/call-class.ts";
import { createReadExclusions } from "./providers/known-exclusions.ts";
import type { Provider } from "./providers/provider.ts";
import { createProviders } from "./providers/providers.ts";
import { createRegistryReader, type RegistryReader } from "./providers/sam-gov/registry-reader.ts";
import { samGovApiOf } from "./providers/sam-gov/sam-gov-api.ts";
import { createCountSandboxCall } from "./providers/sandbox/sandbox-providers.ts";
import { queueCollections } from "./questions/documents.ts";
import { watchCollections } from "./questions/watch-documents.ts";
import { createReceiptSigner } from "./receipts/signer.ts";
import { createRunJudge } from "./runs/judge-runs.ts";
import { createMonitorRuns } from "./runs/monitor-runs.ts";
import { createVerifyRun } from "./runs/verify-run.ts";
import { createAskedProvider } from "./sam-gov-queue/asked-provider.ts";
import { createReadCallsReport } from "./sam-gov-queue/calls-report.ts";
import { createSamGovQueue, type QueueSettings } from "./sam-gov-queue/queue.ts";
import { collectionsOf, createVerificationStore } from "./store.ts";
import { createAskWithinLimits } from "./tin-guessing/guess-limits.ts";
import { createGuessesStore } from "./tin-guessing/guesses-store.ts";
import { createReadTinTerms } from "./tin-guessing/tin-terms.ts";

/** How long an idempotency key is held, in milliseconds: a call takes at most 25 s. */
const CALL_LEASE_MS = 30_000;
/** Maximum number of watched vendors that are read together: as many as entity answers in a call. */
const WATCHES_TOGETHER = 100;
const SAM_GOV_API = { name: "sam_gov_api", check: "sam_registration" } as const;

/** Creates the whole service on the given databases, without its gRPC server and its Kafka connections. */
export async function createDomain(options: {
  /** The process's queue of calls. */
  admit: Admit;
  client: MongoClient;
  databases: EnvironmentDatabases;
  entities: Client<typeof EntityService>;
  monitors: Pick<Client<typeof MonitorService>, "createMonitor">;
  /**
   * Creates the live providers; `takeCall` counts an HTTP call against its provider's quota before it is made, and questions to
   * `registry` share calls.
   */
  liveProviders: (takeCall: CircuitBreakers["takeCall"], registry: RegistryReader) => readonly Provider[];
  circuit: CircuitSettings;
  /** The keys in use and their quotas by provider; a provider without a key is absent. */
  accounts: Readonly<Record<string, ProviderAccount>>;
  /** Settings of organizations, from account. */
  settings: ReadOrganizationSettings;
  /** Returns the ids of all suspended organizations, from account. */
  suspendedOrganizations: () => Promise<readonly string[]>;
  /** Most of a provider's configured quota that one organization may use per day, in per cent. */
  organizationQuotaPercent: number;
  limits: TimeLimits;
  /** Maximum number of TINs that did not match, of one vendor or name within 24 hours. */
  tinsPerVendor: number;
  evidence: EvidenceSettings;
  days: KeptDays;
  /** The keys of receipts, the one that signs first; none: no receipts. */
  receiptKeys: readonly SecretKey[];
  /** Time limit for one database operation of circuits and budgets, in milliseconds; the default of each where absent. */
  storeMs?: number;
  /** Maximum number of verifications whose facts are being forwarded; the forwarder's default where absent. */
  maxForwarding?: number;
  topicFor: Kafka["topicFor"];
  /** Called with the record of a verification that was stored, so that it can be published. */
  onStored: (environment: Environment, completed: OutboxRecord) => void;
  /** The queue of runs that wait for SAM.gov's API. */
  queue: QueueSettings;
  stopping: AbortSignal;
  now: () => Date;
  logger: Logger;
  /** Registers what must be closed when the service stops. */
  onClose: (name: string, close: () => unknown) => void;
}) {
  const { admit, client, databases, entities, limits, storeMs, now, logger, onClose } = options;

  const circuits = { settings: options.circuit, accounts: options.accounts, storeMs, now, logger };
  const breakers = perEnvironment((environment) => createCircuitBreakers({ db: databases[environment], ...circuits }));
  onClose("circuit breakers", () => Promise.all(environments.map((environment) => breakers[environment].flush())));
  const counts = perEnvironment((environment) => startAttemptCounts({ db: databases[environment], now, logger }));
  onClose("attempt counts", () => Promise.all(environments.map((environment) => counts[environment].close())));
  const outboxes = perEnvironment((environment) => createOutbox({ db: databases[environment] }));
  const idempotency = perEnvironment((environment) =>
    createIdempotencyStore({ db: databases[environment], leaseMs: CALL_LEASE_MS, now }),
  );
  const evidence = await openEvidence({ databases, settings: options.evidence, now, logger });
  onClose("evidence", () => evidence.close());
  const store = createVerificationStore({ ...options, outboxes, idempotency, bodies: evidence.bodies });

  const registry = createRegistryReader(entities);
  const live = options.liveProviders(breakers.live.takeCall, registry);
  const providers = createProviders({ live, entities: registry, countCall: createCountSandboxCall(databases), now });
  const budgets = createProviderBudgets({
    db: databases.live,
    settings: options.settings,
    maxPerDay: (provider) => maxPerOrganization(options.accounts[provider]?.quota, options.organizationQuotaPercent),
    storeMs,
    now,
    logger,
  });
  const observe = createObserveAttempts({ breakers, counts, budgets, logger });
  const report = createReportProviders(providers, breakers);
  const readHistory = createReadProviderHistory({ databases, providers });

  const subjects = createSubjects(entities);
  const collections = { ...queueCollections(databases.live), ...watchCollections(databases.live) };
  const guesses = createGuessesStore(databases.live);
  const askWithinLimits = createAskWithinLimits({ store: guesses, tinsPerVendor: options.tinsPerVendor, now, logger });
  const guessing = { tinTerms: createReadTinTerms(options.settings), askWithinLimits };
  const withdrawnLoads = createReadWithdrawnLoads({ entities, clock: () => performance.now() });
  const asking = { withdrawnLoads, entities, subjects, providers, observe, limits, now };
  const conclude = createConcluder({ store, ...guessing, ...asking });
  const judgeRuns = createRunJudge({
    ...guessing,
    ...asking,
    collections: collectionsOf(databases.live),
    hasApi: live.some(({ name }) => name === SAM_GOV_API.name),
  });
  const facts = createFactForwarder({ entities, now, logger, maxForwarding: options.maxForwarding });
  onClose("facts that are being forwarded", () => facts.settled());
  const { topicFor, onStored } = options;
  const readExclusions = createReadExclusions({ entities: registry, now });
  const verifying = { store, facts, conclude, readExclusions };
  const verifier = createVerifier({ ...verifying, topicFor, onStored, limits, now, logger });
  const verifyRun = createVerifyRun({ admit, subjects, verifier });
  const provider = createAskedProvider({ provider: SAM_GOV_API, breakers: breakers.live, counts: counts.live });
  const samGov = samGovApiOf(live);
  const putWatch = createPutWatch({ client, collections });
  // Reads of their own, so that no call waits behind those for many monitors.
  const watching = {
    registry: createRegistryReader(entities, { maxTogether: WATCHES_TOGETHER }),
    subjects: createSubjects(entities, WATCHES_TOGETHER),
    putWatch,
    suspendedOrganizations: options.suspendedOrganizations,
    withdrawnLoads: async () => (await entities.listWithdrawnLoads({ environment: toProtoEnvironment("live") })).loads,
  };
  const { stopping, queue: queueSettings } = options;
  const jobs: Readonly<Record<Environment, Jobs>> = perEnvironment((environment) =>
    createJobs({
      ...{
        environment,
        client,
        db: databases[environment],
        admit,
        entities,
        subjects,
        verifier,
        stopping,
        now,
        logger,
      },
      monitors: options.monitors,
      idempotency: idempotency[environment],
      parking: () => (environment === "live" ? queue.parking : undefined),
      suspended: options.suspendedOrganizations,
      owner: queueSettings.owner,
    }),
  );
  const queue = createSamGovQueue({
    ...{ client, collections, samGov, provider, verifyRun, ...watching, outbox: outboxes.live },
    wakeRow: (row) => jobs.live.wake(row),
    ...{ topic: topicFor("live", topicNames.registryChanged), ...options.queue, now, logger },
  });
  const readCallsReport = createReadCallsReport({
    db: databases.live,
    collections,
    provider: SAM_GOV_API.name,
    quota: options.accounts[SAM_GOV_API.name]?.quota,
    left: breakers.live.left,
    budgets,
    now,
  });
  const readUsage = (tenant: Tenant) => budgets.usage(tenant, [...new Set(live.map(({ name }) => name))]);
  const signer = createReceiptSigner(options.receiptKeys);
  const read = { signer, report: createShowProviders(providers, report), readUsage, readHistory, readCallsReport };
  const handlers = createHandlers({ admit, store, idempotency, subjects, verifier, judgeRuns, ...read });
  /** Returns the handler of an environment's runs. Only live ones wait for SAM.gov's API. */
  const runsOf = (environment: Environment) =>
    createMonitorRuns({ environment, store, verifyRun, parking: environment === "live" ? queue.parking : undefined });
  const noteMonitor = createWatchRecords({ ...watching, now });
  const jobService = createJobService({
    ...{ jobs, idempotency, signer },
    verifications: store.getMany,
    evidence: store.evidenceOf,
  });
  return { handlers, jobService, jobs, runsOf, noteMonitor, queue, facts, report };
}
