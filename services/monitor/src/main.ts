import { createAdmission } from "@vvs/fair-queue";
import { newId } from "@vvs/ids";
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
import { NotificationService } from "@vvs/proto/account/v1/notifications";
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { ChangeDetectedSchema, RegistryChangedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { clientsOf, serveRpc, tlsFiles } from "@vvs/rpc";
import { type Environment, type Tenant, toProtoCaller } from "@vvs/tenant";
import { createMonitorHandlers, monitorCallers } from "./api.ts";
import { createReportEntry, runAuditReporter } from "./audit/audit-reporter.ts";
import { fastClockOf, loadMonitorConfig } from "./config.ts";
import { createMonitorDomain } from "./domain.ts";
import { runEventSequencer } from "./events/event-sequencer.ts";
import { observeWaitingNotifications, runNotificationReporter } from "./events/notification-reporter.ts";
import { runSandboxRetention } from "./events/sandbox-retention.ts";
import { observeUnanswered } from "./model/unanswered.ts";
import type { ExpectEntity } from "./monitors/monitor-commands.ts";
import { runStatePublisher } from "./monitors/state-publisher.ts";
import { followSuspensions, runResumption } from "./monitors/suspensions.ts";
import { observeDueAge } from "./runs/due-age.ts";
import { runExpiryReminders } from "./runs/expiry-reminders.ts";
import { LEASE_INTERVAL_MS, runScheduler } from "./runs/scheduler.ts";
import { createJudge } from "./sweep/judge.ts";
import { runSweep } from "./sweep/sweep.ts";
import { createSweepMetrics, observeSweepLag } from "./sweep/sweep-metrics.ts";

await runService("monitor", loadMonitorConfig, async ({ config, logger, onClose, stopping }) => {
  const tls = tlsFiles(config);
  const client = await connectMongo({ ...mongoOptions(config), service: "monitor", logger, stopping });
  onClose("mongodb", () => client.close());
  const now = await databaseClock({ client, stopping });
  const databases = environmentDatabases(client, config.MONGODB_DATABASE_PREFIX, "monitor");

  const connect = clientsOf({ caller: "monitor", tls, onClose });
  const entities = connect(EntityService, config.ENTITY_ADDRESS);
  const expectEntity: ExpectEntity = async (caller, entityId, options) => {
    await entities.getEntity({ caller: toProtoCaller(caller), entityId, ...options });
  };
  const verification = connect(VerificationService, config.VERIFICATION_ADDRESS);
  const statuses = connect(OrganizationStatusService, config.ACCOUNT_ADDRESS);
  const suspensions = followSuspensions({
    ask: async () => (await statuses.listSuspended({})).organizationIds,
    stopping,
    logger,
  });
  const auditLog = connect(AuditLogService, config.ACCOUNT_ADDRESS);

  const kafka = createKafka({ ...kafkaOptions(config), clientId: "monitor", logger });

  function startDomain(environment: Environment, concurrency: number) {
    const topicFor = (name: keyof typeof topicNames) => kafka.topicFor(environment, topicNames[name]);
    const db = databases[environment];
    const producer = kafka.producer();
    onClose(`${environment} producer`, () => producer.close());
    const relay = runOutboxRelay({ db, producer, logger });
    onClose(`${environment} outbox relay`, () => relay.stop());
    const sequencing = runEventSequencer({ db, client, logger });
    onClose(`${environment} event sequencer`, () => sequencing.stop());
    const topic = topicFor("monitorStateChanged");
    const publishing = runStatePublisher({ environment, db, client, topic, nudge: relay.nudge, logger });
    onClose(`${environment} state publisher`, () => publishing.stop());
    const report = createReportEntry(auditLog, environment);
    const reporting = runAuditReporter({ db, report, logger });
    onClose(`${environment} audit reporter`, () => reporting.stop());

    const domain = createMonitorDomain({
      environment,
      client,
      db,
      topics: {
        verificationRequested: topicFor("verificationRequested"),
        verificationRequestedTin: topicFor("verificationRequestedTin"),
        webhookRequested: topicFor("webhookRequested"),
      },
      expectEntity,
      allowPrivateTargets: config.WEBHOOK_ALLOW_PRIVATE_TARGETS,
      runTimeoutMs: config.RUN_TIMEOUT_SECONDS * 1_000,
      isSuspended: suspensions.isSuspended,
      leaseIntervalMs: LEASE_INTERVAL_MS,
      fileRunSpreadMs: config.FILE_RUN_SPREAD_SECONDS * 1_000,
      fastClock: fastClockOf(config),
      nudge: () => {
        relay.nudge();
        sequencing.nudge();
      },
      now,
      stopping,
      logger,
    });
    const count = () => domain.store.countUnanswered(now(), suspensions.all() ?? []);
    onClose(`${environment} gauge`, observeUnanswered({ environment, count }));
    onClose(`${environment} due age`, observeDueAge({ environment, oldestDueAt: domain.store.oldestDueAt, now }));
    const { verificationCompleted, changeDetected, registryChanged } = domain.records;
    const completed = { topic: topicFor("verificationCompleted"), schema: VerificationCompletedSchema };
    const detected = { topic: topicFor("changeDetected"), schema: ChangeDetectedSchema };
    const changed = { topic: topicFor("registryChanged"), schema: RegistryChangedSchema };
    const consumer = kafka.runConsumer({
      groupId: `monitor.${environment}`,
      subscriptions: [
        subscription({ ...completed, handle: verificationCompleted }),
        subscription({ ...detected, handle: changeDetected }),
        subscription({ ...changed, handle: registryChanged }),
      ],
      concurrency,
      logger,
    });
    onClose(`${environment} consumer`, () => consumer.stop());

    const schedule = { pollMs: config.SCHEDULE_POLL_MS, onClaimed: relay.nudge, signal: stopping, logger };
    const scheduling = suspensions.firstAnswer().then(() => runScheduler(domain.scheduler, schedule));
    onClose(`${environment} scheduler`, () => scheduling);
    const resumption = { all: suspensions.all, resumeExtras: domain.resumeExtras, stopping, logger };
    const resuming = runResumption(resumption);
    onClose(`${environment} resumption`, () => resuming);
    return domain;
  }

  const live = startDomain("live", config.LIVE_CONCURRENCY);
  const notifications = connect(NotificationService, config.ACCOUNT_ADDRESS);
  // Nobody is notified of what happens in the sandbox.
  const notifying = runNotificationReporter({ db: databases.live, notifications, logger });
  onClose("notification reporter", () => notifying.stop());
  onClose("notifications gauge", observeWaitingNotifications(databases.live));
  const nameOf = async (tenant: Tenant, entityId: string) => {
    const caller = toProtoCaller({ tenant, actor: "monitor", requestId: newId("req") });
    return (await entities.getEntity({ caller, entityId, takenOver: true })).entity?.legalName ?? "";
  };
  const reminding = runExpiryReminders({ db: databases.live, notifications, nameOf, now, stopping, logger });
  onClose("expiry reminders", () => reminding.ended());
  // Only live monitors stand.
  const { standing, positions } = live;
  const sweep = {
    ...{ db: databases.live, standing, positions, judge: createJudge(verification) },
    ...{ isSuspended: suspensions.isSuspended, runTimeoutMs: config.RUN_TIMEOUT_SECONDS * 1_000 },
    ...{ metrics: createSweepMetrics(), now, logger },
  };
  const sweeping = suspensions.firstAnswer().then(() => runSweep(sweep));
  onClose("sweep", async () => (await sweeping).stop());
  onClose("sweep lag", observeSweepLag({ readAll: positions.readAll, now }));
  const sandbox = startDomain("sandbox", config.SANDBOX_CONCURRENCY);
  const keeping = { days: config.SANDBOX_KEPT_DAYS, newest: config.SANDBOX_KEPT_EVENTS };
  const retention = runSandboxRetention({ db: databases.sandbox, client, keeping, now, stopping, logger });
  onClose("sandbox retention", () => retention.ended());
  const handlers = createMonitorHandlers({ live, sandbox }, stopping);
  const server = await serveRpc({
    service: MonitorService,
    handlers,
    callers: monitorCallers,
    host: config.RPC_HOST,
    port: config.RPC_PORT,
    tls,
    logger,
    translate: translateMongoError,
    admit: createAdmission({ seats: config.CALL_SEATS }),
    ping: pingMongo(client),
  });
  onClose("grpc server", () => server.close());
  logger.info({ port: server.port }, "serving");
});
