import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { createAdmission } from "@vvs/fair-queue";
import { topicFor } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { connectMongo, environmentDatabases, translateMongoError } from "@vvs/mongo";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { CreateMonitorResponseSchema } from "@vvs/proto/monitor/v1/monitor";
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Client, createClient, serveRpc } from "@vvs/rpc";
import { atEnd, silentLogger } from "@vvs/testing";
import { callers } from "../api.ts";
import { type TimeLimits, timeLimits } from "../checks/conclude.ts";
import { createDomain } from "../domain.ts";
import type { EvidenceSettings } from "../evidence/open.ts";
import { migrate } from "../migrate.ts";
import type { OrganizationSettings, ReadOrganizationSettings } from "../organization-settings/organization-settings.ts";
import { type CircuitSettings, defaultCircuitSettings } from "../provider-health/circuit.ts";
import type { ProviderAccount } from "../providers/call-class.ts";
import type { LiveProvidersOptions } from "../providers/live-providers.ts";
import type { Provider } from "../providers/provider.ts";
import { createSamGovExtract } from "../providers/sam-gov/sam-gov-extract.ts";
import type { QueueSettings } from "../sam-gov-queue/queue.ts";
import { startTestEntities } from "./entities.ts";

/** Settings of an organization that may do everything. */
export const unlimited: OrganizationSettings = {
  providerBudgets: new Map(),
  liveTinMatch: true,
  tinFailuresPerDay: 10_000,
};

/**
 * Starts the service until the tests of the file are over, with a real MongoDB and real gRPC, beside a simulated entity service.
 * `live` replaces the live providers; the sandbox's providers are the real ones.
 */
export async function startTestService(options: {
  /** The server of this test run where absent. */
  mongodbUri?: string;
  live?: readonly Provider[] | ((of: Pick<LiveProvidersOptions, "takeCall" | "entities">) => readonly Provider[]);
  topicPrefix?: string;
  /** The entity service; a simulated one where absent. */
  entities?: Client<typeof EntityService>;
  /** Settings that differ from the defaults. */
  circuit?: Partial<CircuitSettings>;
  /** The live providers' keys and quotas; there are none where absent. */
  accounts?: Readonly<Record<string, ProviderAccount>>;
  /** What the plans and the operator set for organizations; nothing where absent. */
  settings?: ReadOrganizationSettings;
  /** Returns the ids of suspended organizations; none where absent. */
  suspended?: () => Promise<readonly string[]>;
  /** Limits that differ from the defaults. */
  limits?: Partial<TimeLimits>;
  /** Maximum number of verifications whose facts are being forwarded. */
  maxForwarding?: number;
  /** Receives the service's log lines; they are dropped where absent. */
  logger?: Logger;
  evidence?: Partial<EvidenceSettings>;
  /** The keys of receipts; none where absent. */
  receiptKeys?: Parameters<typeof createDomain>[0]["receiptKeys"];
  /** Receives the records of stored verifications; they are dropped where absent. */
  onStored?: Parameters<typeof createDomain>[0]["onStored"];
  /** Settings of the queue of SAM.gov's API that differ: its calls start immediately. The queue works only when a test says so. */
  queue?: Partial<QueueSettings>;
  /** The monitor service, as far as jobs call it; each vendor gets a monitor named after it where absent. */
  monitors?: Parameters<typeof createDomain>[0]["monitors"];
  /** The service's clock. */
  now?: () => Date;
  /** Ends what a test starts of the service; without it only rounds that the test asks for should run. */
  stopping?: AbortSignal;
  /** Database prefix of another test service, to run beside it on its databases. */
  prefix?: string;
}) {
  const now = options.now ?? (() => new Date());
  const logger = options.logger ?? silentLogger;
  const prefix = options.prefix ?? `t${randomBytes(5).toString("hex")}_`;
  const stopping = options.stopping ?? new AbortController().signal;
  const client = await connectMongo({
    uri: options.mongodbUri ?? process.env.MONGODB_URI!,
    service: "test",
    logger,
    stopping,
  });
  if (!options.prefix) await migrate({ client, prefix });
  const databases = environmentDatabases(client, prefix, "verification");
  const testEntities = await startTestEntities();
  const simulated = createClient(EntityService, {
    address: `127.0.0.1:${testEntities.server.port}`,
    caller: "verification",
    tls: undefined,
  });
  const entities = options.entities ?? simulated;
  const closers: (() => unknown)[] = [];
  const admit = createAdmission({ seats: 32 });
  const domain = await createDomain({
    admit,
    client,
    databases,
    entities,
    monitors: options.monitors ?? {
      createMonitor: async ({ entityId = "" }) =>
        create(CreateMonitorResponseSchema, { monitor: { id: entityId.replace("ent_", "mon_") } }),
    },
    liveProviders(takeCall, registry) {
      if (typeof options.live === "function") return options.live({ takeCall, entities: registry });
      return options.live ?? [createSamGovExtract({ entities: registry, hasApi: false, now })];
    },
    circuit: { ...defaultCircuitSettings, ...options.circuit },
    accounts: options.accounts ?? {},
    settings: options.settings ?? { get: async () => unlimited },
    suspendedOrganizations: options.suspended ?? (async () => []),
    organizationQuotaPercent: 20,
    // On a loaded machine the database may be slow without being unavailable.
    storeMs: 20_000,
    limits: { ...timeLimits, attemptMs: 9_000, ...options.limits },
    tinsPerVendor: 5,
    evidence: {
      store: "mongodb",
      s3: undefined,
      keyPrefix: "",
      ...options.evidence,
    },
    days: { lasting: 2_557, repeated: 400, sandboxRuns: 14, least: 0 },
    receiptKeys: options.receiptKeys ?? [],
    maxForwarding: options.maxForwarding,
    topicFor: (environment, topic) => topicFor({ prefix: options.topicPrefix, environment, topic }),
    onStored: options.onStored ?? (() => undefined),
    queue: { gatherMs: 0, slots: { runs: 16, tinRuns: 4 }, owner: randomBytes(6).toString("hex"), ...options.queue },
    stopping,
    now,
    logger,
    onClose: (_name, close) => void closers.unshift(close),
  });
  const server = await serveRpc({
    service: VerificationService,
    handlers: domain.handlers,
    callers,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    translate: translateMongoError,
    beside: [domain.jobService],
  });
  const address = `127.0.0.1:${server.port}`;
  const jobs = createClient(JobService, { address, caller: "gateway", tls: undefined });
  const clients: { close(): void }[] = [jobs];
  function clientFor(caller: string) {
    const client = createClient(VerificationService, { address, caller, tls: undefined });
    clients.push(client);
    return client;
  }
  const gateway = clientFor("gateway");
  const verify: typeof gateway.verify = (request, { timeoutMs = 24_500, ...options } = {}) =>
    gateway.verify(request, { timeoutMs, ...options });
  return {
    /** The gateway's client; a verification may take as long as there. */
    client: { ...gateway, verify },
    /** Returns the client of another service. */
    clientFor,
    jobClient: jobs,
    jobs: domain.jobs,
    entities: testEntities,
    /** Resolves when no facts are being forwarded. */
    factsForwarded: () => domain.facts.settled(),
    databases,
    prefix,
    runOf: domain.runsOf,
    noteMonitor: domain.noteMonitor,
    queue: domain.queue,
    stop: atEnd(async () => {
      for (const client of clients) client.close();
      await server.close();
      for (const close of closers) await close();
      simulated.close();
      await testEntities.server.close();
      if (!options.prefix) await Promise.all([databases.live.dropDatabase(), databases.sandbox.dropDatabase()]);
      await client.close();
    }),
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
