import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { loadConfig, z } from "@vvs/config";
import { topicNames } from "@vvs/kafka";
import { environmentDatabases } from "@vvs/mongo";
import { shardOf } from "@vvs/outbox";
import {
  type ChangeDetected,
  ChangeDetectedSchema,
  MonitorStateChangedSchema,
  type RegistryChanged,
  RegistryChangedSchema,
  type VerificationCompleted,
  VerificationCompletedSchema,
  VerificationRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { atEnd, silentLogger as logger } from "@vvs/testing";
import type { Binary, Db } from "mongodb";
import { collections as detectorCollections } from "../../services/change-detector/src/store.ts";
import { createPublishStates } from "../../services/monitor/src/monitors/state-publisher.ts";
import { createTestDomain } from "../../services/monitor/src/testing/domain.ts";
import { providerAccounts, providersSection } from "../../services/verification/src/providers/config.ts";
import { createLiveProviders } from "../../services/verification/src/providers/live-providers.ts";
import { queueCollections } from "../../services/verification/src/questions/documents.ts";
import { startTestService } from "../../services/verification/src/testing/service.ts";
import type { PlayedSamGov } from "../outside/sam-gov.ts";
import { startChangeDetector } from "../support/change-detector.ts";
import type { World } from "./world.ts";

export type Product = Awaited<ReturnType<typeof startProduct>>;

/** What a product does beside what all do. */
export interface Hooks {
  /** Handles a published change of the vendors of a file, or of an answer of SAM.gov. */
  readonly registryChanged: (record: RegistryChanged) => Promise<void>;
  /** Changes the result of a run before it is handled. */
  readonly completed?: (record: VerificationCompleted) => void;
  /** Called for each change that was detected, before monitor handles it. */
  readonly changed: (record: ChangeDetected) => void;
  /** Is the record handled twice? */
  readonly isRepeated?: () => boolean;
}

/**
 * Starts live monitor, verification and change-detector with their real stores, without Kafka: their records are handled
 * when a test says so. The clock, the files and SAM.gov are the test's.
 */
export async function startProduct(options: {
  world: World;
  sam: PlayedSamGov;
  clock: { at: Date };
  hooks: (domain: Awaited<ReturnType<typeof createTestDomain>>) => Hooks;
}) {
  const { world, sam, clock } = options;
  const now = () => clock.at;
  const monitors = await createTestDomain({ environment: "live", fileRunSpreadMs: 0 });
  const hooks = options.hooks(monitors);
  const config = loadConfig(z.object(providersSection), {
    SAM_GOV_API_KEY: sam.apiKey,
    SAM_GOV_BASE_URL: sam.baseUrl,
    SAM_GOV_DAILY_QUOTA: "1000000",
  });
  const verification = await startTestService({
    now,
    entities: world.entities,
    accounts: providerAccounts(config),
    live: (of) => createLiveProviders({ config, ...of, now, logger, onClose: (_, close) => void atEnd(close) }),
  });
  const detector = await startChangeDetector({ prefix: monitors.prefix, now });
  const detectorDb = environmentDatabases(detector.client, monitors.prefix, "change-detector").live;
  const judging = verification.clientFor("monitor");
  const publishStates = createPublishStates({
    ...{ environment: "live", client: monitors.client, db: monitors.db, topic: topicNames.monitorStateChanged },
    ...{ nudge: () => undefined, leases: { held: () => [shardOf("monitor states")] } },
  });
  const parked = queueCollections(verification.databases.live).parkedRuns;

  const read =
    <Desc extends DescMessage>(schema: Desc, handle: (record: MessageShape<Desc>) => Promise<unknown>) =>
    async (value: Uint8Array) =>
      void (await handle(fromBinary(schema, value)));
  const handlers: readonly (readonly [RegExp, (value: Uint8Array) => Promise<void>])[] = [
    [/verification\.requested/, read(VerificationRequestedSchema, verification.runOf("live"))],
    [
      /verification\.completed/,
      read(VerificationCompletedSchema, async (record) => {
        hooks.completed?.(record);
        await detector.detect(record);
        await monitors.records.verificationCompleted(record);
      }),
    ],
    [/registry\.changed/, read(RegistryChangedSchema, hooks.registryChanged)],
    [
      /change_detected/,
      read(ChangeDetectedSchema, async (record) => {
        hooks.changed(record);
        await monitors.records.changeDetected(record);
      }),
    ],
    [/monitor\.state_changed/, read(MonitorStateChangedSchema, verification.noteMonitor)],
  ];

  /** Handles the records in an outbox, those of a key in their order. Returns their number. */
  async function take(from: Db): Promise<number> {
    const outbox = from.collection<{ topic: string; key: string; seq: number; value: Binary }>("outbox");
    const rows = await outbox.find().sort({ key: 1, seq: 1 }).toArray();
    const keys = [...Map.groupBy(rows, ({ key }) => key).values()];
    await Promise.all(
      keys.map(async (ofKey) => {
        for (const { topic, value } of ofKey) {
          const handle = handlers.find(([pattern]) => pattern.test(topic))?.[1];
          await handle?.(value.buffer);
          if (hooks.isRepeated?.()) await handle?.(value.buffer);
        }
      }),
    );
    if (rows.length > 0) await outbox.deleteMany({ _id: { $in: rows.map(({ _id }) => _id) } });
    return rows.length;
  }

  return {
    ...{ monitors, verification, judging, clock },
    baselines: detectorCollections(detectorDb).baselines,
    parked,
    /** Handles all records until there are none, and asks SAM.gov for runs that wait. */
    async settle(): Promise<void> {
      let count: number;
      do {
        count = 0;
        for (const db of [monitors.db, verification.databases.live, detectorDb]) count += await take(db);
        if (count === 0 && (await parked.countDocuments({ state: { $ne: "superseded" } }, { limit: 1 })) > 0) {
          await verification.queue.ask();
          await verification.queue.resume();
          for (const db of [verification.databases.live, detectorDb, monitors.db]) count += await take(db);
        }
      } while (count > 0);
    },
    /** Publishes the states of monitors, and asks SAM.gov about watched vendors whose data is too old. */
    async refresh(): Promise<void> {
      await publishStates();
      await take(monitors.db);
      await verification.queue.ask();
    },
    /** Adds a replica of monitor, with a clock of its own. */
    replica: () => createTestDomain({ environment: "live", prefix: monitors.prefix, fileRunSpreadMs: 0 }),
  };
}
