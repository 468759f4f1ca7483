import { allTopics, createKafka, type KafkaOptions, type TopicSettings } from "@vvs/kafka";
import { connectMongo, type MongoOptions } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import { migrate as migrateAccount } from "../services/account/src/migrate.ts";
import { migrate as migrateChangeDetector } from "../services/change-detector/src/migrate.ts";
import { migrate as migrateEntity } from "../services/entity/src/migrate.ts";
import { migrate as migrateMonitor } from "../services/monitor/src/migrate.ts";
import { migrate as migrateVerification } from "../services/verification/src/migrate.ts";
import { migrate as migrateWebhookDispatcher } from "../services/webhook-dispatcher/src/migrate.ts";

export interface MigrateOptions {
  readonly mongodb: MongoOptions;
  readonly databasePrefix: string;
  readonly kafka: KafkaOptions;
  readonly topics?: TopicSettings;
}

/**
 * Creates and updates collections, indexes, the sandbox registry and topics for this version. It can be repeated, and is
 * safe before, during and after a rollout. Services create none of these. Errors: a store is unavailable.
 */
export async function migrateAll({ mongodb, databasePrefix, kafka, topics }: MigrateOptions): Promise<void> {
  const stopping = AbortSignal.abort(); // a command does not wait for an unavailable database
  const client = await connectMongo({ ...mongodb, service: "migrate", logger: kafka.logger, stopping });
  try {
    await Promise.all([
      migrateDatabases({ client, prefix: databasePrefix }),
      createKafka(kafka).ensureTopics(allTopics(kafka.topicPrefix, topics)),
    ]);
  } finally {
    await client.close();
  }
}

/** Migrates all services' databases, without the topics. */
export async function migrateDatabases(target: { client: MongoClient; prefix: string }): Promise<void> {
  const steps = [
    migrateAccount,
    migrateEntity,
    migrateVerification,
    migrateMonitor,
    migrateChangeDetector,
    migrateWebhookDispatcher,
  ];
  await Promise.all(steps.map((migrate) => migrate(target)));
}
