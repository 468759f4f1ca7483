import { randomUUID } from "node:crypto";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { consumerGroups, type ProducerRecord, topicFor } from "@vvs/kafka";
import { type OutboxRecord, runOutboxRelay } from "@vvs/outbox";
import { CheckType, type IdempotencySchema } from "@vvs/proto/common/v1/common";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import type { Mode, VendorSchema } from "@vvs/proto/verification/v1/verification";
import { atEnd, eventually, silentLogger, testMongo } from "@vvs/testing";
import { callerFor, startTestApplication } from "../../services/entity/src/testing/application.ts";
import { createLoads } from "../../services/entity/src/testing/loads.ts";
import { startTestService } from "../../services/verification/src/testing/service.ts";
import { type CommandCounts, commandsDuring, monitored } from "../support/command-counts.ts";
import { heldCommands } from "../support/command-holds.ts";

/** Fields of a call that differ from those of a plain one. */
export interface VerifyFields {
  readonly target?: { readonly case: "vendor"; readonly value: MessageInitShape<typeof VendorSchema> };
  readonly idempotency?: MessageInitShape<typeof IdempotencySchema>;
  readonly checks?: CheckType[];
}

/** The UEI of the registered vendor. */
export const UEI = "ABCDEFGHJK71";
export const NOW = new Date("2026-09-07T12:00:00Z");

/**
 * Entity and verification with a real MongoDB, on whose clients commands can be counted. Records go from verification's outbox
 * to entity without Kafka. `providers`: verification's live providers with their accounts and budgets; the files where absent.
 */
export async function startCostStack(
  providers: Pick<Parameters<typeof startTestService>[0], "live" | "accounts" | "settings"> = {},
) {
  const uri = monitored(process.env.MONGODB_URI!);
  const entity = await startTestApplication({ uri });
  entity.clock.now = NOW;
  await createLoads(entity).load([{ 1: UEI, 12: "REGISTERED LLC" }]);
  await createLoads(entity).exclude([{ uei: "ZZANOTHERONE" }], "2026-09-06");
  let hold: Promise<void> | undefined;
  const asked: number[] = [];
  let resolved = 0;
  const real = entity.verification;
  const entities: typeof real = {
    ...real,
    async getCheckSubjects(request, options) {
      asked.push(request.keys?.length ?? 0);
      await hold;
      return real.getCheckSubjects(request, options);
    },
    async resolveVendor(request, options) {
      const answer = await real.resolveVendor(request, options);
      resolved += 1;
      return answer;
    },
  };
  const stored: OutboxRecord[] = [];
  const onStored = (_environment: unknown, completed: OutboxRecord) => void stored.push(completed);
  const verification = await startTestService({ mongodbUri: uri, entities, onStored, now: () => NOW, ...providers });
  const clients = [entity.client, verification.databases.live.client];
  const holds = heldCommands(verification.databases.live);
  /** Handlers of verification's records. */
  const onCompleted = [entity.records.live.verificationCompleted];
  let noted = 0;
  const read: Record<string, number> = {};
  const producer = {
    async send(records: readonly ProducerRecord[]) {
      for (const { topic } of records) for (const group of readersOf(topic)) read[group] = (read[group] ?? 0) + 1;
      const completed = records.map(({ value }) => fromBinary(VerificationCompletedSchema, value!));
      await Promise.all(completed.flatMap((record) => onCompleted.map((handle) => handle(record))));
      noted += records.length;
    },
  };
  const relay = runOutboxRelay({
    db: verification.databases.live,
    producer,
    owner: randomUUID(),
    logger: silentLogger,
    pollMs: 600_000,
  });
  atEnd(() => relay.stop());
  const watcher = await testMongo();
  const outbox = watcher.client.db(verification.databases.live.databaseName).collection("outbox");
  /** Publishes all verifications that are stored in one round, and waits until entity's lists have noted so many more. */
  async function publish(verifications: number): Promise<void> {
    const before = noted;
    for (const completed of stored.splice(0)) relay.publish(completed);
    await eventually(() => noted === before + verifications);
    await eventually(async () => (await outbox.countDocuments({ key: { $exists: true } })) === 0);
  }
  const { entity: vendor } = await entity.gateway.lookUp({ caller: callerFor("org_1"), identifiers: { uei: UEI } });

  return {
    entity,
    verification,
    /** The registered vendor, as an entity of the registry. */
    vendorId: vendor!.id,
    onCompleted,
    /** The entity's clients, and verification's. */
    clients,
    /** Numbers of subjects in each question to entity. */
    asked,
    /** Number of vendors that entity has resolved. */
    resolved: () => resolved,
    /** Holds what entity is asked until the returned function is called. */
    hold(): () => void {
      const held = Promise.withResolvers<void>();
      hold = held.promise;
      return held.resolve;
    },
    /** Resolves when all calls that were made before have arrived: they share a connection, which keeps their order. */
    arrived: () => verification.client.verify({}).catch(() => undefined),
    /** Resolves when all that entity was asked before has arrived. */
    arrivedAtEntity: () => entity.verification.getCheckSubjects({}),
    /** Holds the commands of a method on a collection; see heldCommands. */
    holdCommands: holds.hold,
    /** Verifies the registered vendor for an organization, with fields that differ. */
    verify: (organization: number, mode: Mode, fields: VerifyFields = {}) =>
      verification.client.verify({
        caller: callerFor(`org_${organization}`),
        target: { case: "entityId", value: vendor!.id },
        checks: [CheckType.SAM_REGISTRATION],
        mode,
        ...fields,
      }),
    publish,
    /** Numbers of verification's records that each consumer group decodes. */
    read: read as Readonly<Record<string, number>>,
    /** Counts the commands of verifications, until entity's lists have noted all of them. */
    count: (verifications: number, work: () => Promise<unknown>): Promise<CommandCounts> =>
      commandsDuring(clients, async () => {
        await work();
        await publish(verifications);
      }),
  };
}

/** Returns the consumer groups that read a topic. */
function readersOf(topic: string): string[] {
  const reads = Object.entries(consumerGroups).filter(([, names]) =>
    names.some((name) => topicFor({ environment: "live", topic: name }) === topic),
  );
  return reads.map(([group]) => group);
}
