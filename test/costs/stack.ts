import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { createLogger } from "@vvs/logging";
import { runOutboxRelay } from "@vvs/outbox";
import { CheckType } from "@vvs/proto/common/v1/common";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import type { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import { callerFor, startTestApplication } from "../../services/entity/src/testing/application.ts";
import { createLoads } from "../../services/entity/src/testing/loads.ts";
import { startTestService } from "../../services/verification/src/testing/service.ts";
import { type CommandCounts, commandsDuring, monitored } from "../support/command-counts.ts";

const UEI = "ABCDEFGHJK71";
const NOW = new Date("2026-09-07T12:00:00Z");

/**
 * Entity and verification with a real MongoDB, on whose clients commands can be counted. Records go from verification's outbox
 * to entity without Kafka.
 */
export async function startCostStack(mongodbUri: string) {
  const uri = monitored(mongodbUri);
  const entity = await startTestApplication(uri);
  entity.clock.now = NOW;
  await createLoads(entity).load([{ 1: UEI, 12: "REGISTERED LLC" }]);
  await createLoads(entity).exclude([{ uei: "ZZANOTHERONE" }], "2026-09-06");
  let hold: Promise<void> | undefined;
  const asked: number[] = [];
  const real = entity.verification;
  const entities: typeof real = {
    ...real,
    async getCheckSubjects(request, options) {
      asked.push(request.keys?.length ?? 0);
      await hold;
      return real.getCheckSubjects(request, options);
    },
  };
  const verification = await startTestService({ mongodbUri: uri, entities, now: () => NOW });
  const clients = [entity.client, verification.databases.live.client];
  let noted = 0;
  const relay = runOutboxRelay({
    db: verification.databases.live,
    producer: {
      async send(records) {
        const { verificationCompleted } = entity.records.live;
        await Promise.all(
          records.map(({ value }) => verificationCompleted(fromBinary(VerificationCompletedSchema, value!))),
        );
        noted += records.length;
      },
    },
    owner: randomUUID(),
    logger: createLogger({ service: "test", level: "silent" }),
    pollMs: 50,
  });
  const { entity: vendor } = await entity.gateway.lookUp({ caller: callerFor("org_1"), identifiers: { uei: UEI } });

  return {
    entity,
    /** The entity's clients, and verification's. */
    clients,
    /** Numbers of subjects in each question to entity. */
    asked,
    /** Holds what entity is asked until the returned function is called. */
    hold(): () => void {
      const held = Promise.withResolvers<void>();
      hold = held.promise;
      return held.resolve;
    },
    /** Resolves when all calls that were made before have arrived: they share a connection, which keeps their order. */
    arrived: () => verification.client.verify({}).catch(() => undefined),
    /** Verifies the registered vendor for an organization. */
    verify: (organization: number, mode: Mode) =>
      verification.client.verify({
        caller: callerFor(`org_${organization}`),
        target: { case: "entityId", value: vendor!.id },
        checks: [CheckType.SAM_REGISTRATION],
        mode,
      }),
    /** Counts the commands of verifications, until entity's lists have noted all of them. */
    async count(verifications: number, work: () => Promise<unknown>): Promise<CommandCounts> {
      const before = noted;
      return commandsDuring(clients, async () => {
        await work();
        await eventually(() => noted === before + verifications);
      });
    },
    /** Number of verifications that entity's lists have noted. */
    noted: () => noted,
    async stop() {
      await relay.stop();
      await verification.stop();
      await entity.stop();
    },
  };
}
