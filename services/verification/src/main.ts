import { setTimeout } from "node:timers/promises";
import { createAdmission } from "@vvs/fair-queue";
import { createKafka, kafkaOptions, subscription, topicNames } from "@vvs/kafka";
import { runService } from "@vvs/lifecycle";
import {
  connectMongo,
  databaseClock,
  environmentDatabases,
  mongoOptions,
  pingMongo,
  translateMongoError,
} from "@vvs/mongo";
import { runOutboxRelay } from "@vvs/outbox";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorStateChangedSchema } from "@vvs/proto/events/v1/events";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { clientsOf, serveRpc, tlsFiles } from "@vvs/rpc";
import { environments, perEnvironment } from "@vvs/tenant";
import { callers } from "./api.ts";
import { runAuditReports } from "./audit/report.ts";
import { timeLimits } from "./checks/conclude.ts";
import { evidenceSettings, keptDays, loadVerificationConfig, queueSettings, runSlots } from "./config.ts";
import { createDomain } from "./domain.ts";
import { createOrganizationSettings } from "./organization-settings/organization-settings.ts";
import { defaultCircuitSettings } from "./provider-health/circuit.ts";
import { observeProviders } from "./provider-health/provider-metrics.ts";
import { providerAccounts } from "./providers/config.ts";
import { createLiveProviders } from "./providers/live-providers.ts";
import { runRetention } from "./retention/removal.ts";
import { startRunConsumers } from "./runs/run-consumers.ts";

const NAME = "verification";
/** How long calls may take to end when the service stops, in milliseconds. */
const GRACE_MS = 25_000;
/** Time limit for asking account about organizations, in milliseconds; after it, what is known of them applies. */
const SETTINGS_MS = 1_000;
/** How long the service waits for Kafka before it is ready without it, in milliseconds. Calls don't need Kafka. */
const JOIN_MS = 6_000;
/** Maximum number of records of monitors' states that are handled at the same time. */
const STATES_AT_ONCE = 64;

await runService(NAME, loadVerificationConfig, async ({ config, logger, onClose, stopping }) => {
  const tls = tlsFiles(config);
  const client = await connectMongo({ ...mongoOptions(config), service: NAME, logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, NAME);
  const connect = clientsOf({ caller: NAME, tls, onClose });
  const entities = connect(EntityService, config.ENTITY_ADDRESS);
  const organizations = connect(OrganizationStatusService, config.ACCOUNT_ADDRESS);
  const monitors = connect(MonitorService, config.MONITOR_ADDRESS);
  const auditLog = connect(AuditLogService, config.ACCOUNT_ADDRESS);
  const reporting = runAuditReports({ databases, auditLog, entities, now, stopping, logger });
  onClose("audit reports", () => Promise.all(reporting.map((loop) => loop.ended())));
  const kafka = createKafka({ ...kafkaOptions(config), clientId: NAME, logger });
  const relays = perEnvironment((environment) => {
    const producer = kafka.producer();
    onClose(`${environment} producer`, () => producer.close());
    const relay = runOutboxRelay({ db: databases[environment], producer, logger });
    onClose(`${environment} outbox relay`, () => relay.stop());
    return relay;
  });

  const admit = createAdmission({ seats: config.CALL_SEATS });
  const { handlers, jobService, jobs, report, runsOf, noteMonitor, queue } = await createDomain({
    admit,
    client,
    databases,
    entities,
    monitors,
    liveProviders: (takeCall, registry) =>
      createLiveProviders({ config, entities: registry, takeCall, now, logger, onClose }),
    circuit: { ...defaultCircuitSettings, openMs: config.CIRCUIT_OPEN_MS },
    accounts: providerAccounts(config),
    settings: createOrganizationSettings({
      ask: (organizationId) => organizations.getOrganizationSettings({ organizationId }, { timeoutMs: SETTINGS_MS }),
      logger,
    }),
    async suspendedOrganizations() {
      return (await organizations.listSuspended({}, { timeoutMs: SETTINGS_MS })).organizationIds;
    },
    organizationQuotaPercent: config.SAM_GOV_ORGANIZATION_PERCENT,
    limits: { ...timeLimits, attemptMs: config.PROVIDER_TIMEOUT_MS },
    tinsPerVendor: config.TIN_GUESSES_PER_VENDOR,
    evidence: evidenceSettings(config),
    days: keptDays(config),
    receiptKeys: config.RECEIPT_KEYS,
    topicFor: kafka.topicFor,
    onStored: (environment, completed) => relays[environment].publish(completed),
    queue: queueSettings(config),
    stopping,
    now,
    logger,
    onClose,
  });
  onClose("provider gauges", observeProviders(report, now));
  const retention = runRetention({
    databases,
    monitors,
    days: keptDays(config),
    sandboxRuns: config.SANDBOX_KEPT_VERIFICATIONS,
    isMine: (environment) => relays[environment].holds("retention"),
    now,
    stopping,
    logger,
  });
  onClose("retention", () => Promise.all(retention.map((loop) => loop.ended())));
  const asking = queue.start();
  onClose("queue of SAM.gov's API", () => asking.stop());

  const working = environments.map((environment) => jobs[environment].start());
  onClose("jobs", () => Promise.all(working.map((each) => each.ended())));

  const server = await serveRpc({
    service: VerificationService,
    handlers,
    callers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
    admit,
    unqueued: ["verify", "judgeRuns"],
    ping: pingMongo(client),
    beside: [jobService],
  });
  const slots = runSlots(config);
  // Each environment has consumers and slots of its own, so that a flood of runs never delays the other environment.
  const consumers = environments.flatMap((environment) => {
    const handle = runsOf(environment);
    const states = {
      topic: kafka.topicFor(environment, topicNames.monitorStateChanged),
      schema: MonitorStateChangedSchema,
      // SAM.gov is never asked for the sandbox.
      handle: environment === "live" ? noteMonitor : async () => undefined,
    };
    return [
      ...startRunConsumers({ kafka, environment, handle, slots: slots[environment], logger }),
      kafka.runConsumer({
        groupId: `verification.monitors.${environment}`,
        subscriptions: [subscription(states)],
        concurrency: STATES_AT_ONCE,
        logger,
      }),
    ];
  });
  // Calls and runs end side by side: either may take as long as its providers do.
  onClose("calls and runs", () => Promise.all([server.close(GRACE_MS), ...consumers.map((each) => each.stop())]));
  const joined = Promise.all(consumers.map(({ ready }) => ready));
  await Promise.race([joined, setTimeout(JOIN_MS, undefined, { ref: false, signal: stopping })]);
  logger.info({ port: server.port }, "serving");
});
