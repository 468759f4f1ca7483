import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createKafka } from "@vvs/kafka";
import { CheckType } from "@vvs/proto/common/v1/common";
import { ChangeDetectedSchema, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { eventually, silentLogger } from "@vvs/testing";
import { openLoop } from "../bench/load.ts";
import { ownPlace } from "../support/own-place.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service-process.ts";
import { recordsOf } from "../support/topic-records.ts";
import { startVerificationStack, type VerificationStack } from "../support/verification-stack.ts";
import { outcome, unsent } from "./outbox-state.ts";
import { type OwnBroker, startOwnBroker } from "./own-broker.ts";
import { type SandboxCaller, sandboxCaller } from "./sandbox-caller.ts";

const MONITORS = 4;
const RUNS = 6;

const whereStartable = process.env.TEST_SERVERS === "started" ? describe : describe.skip;

whereStartable("the outbox", () => {
  const place = ownPlace();
  const { prefix, folder, logDir } = place;
  let broker: OwnBroker;
  let stack: VerificationStack;
  let changeDetector: ServiceProcess;
  let caller: SandboxCaller;

  beforeAll(async () => {
    broker = await startOwnBroker(folder);
    const servers = { mongodbUri: process.env.MONGODB_URI!, kafkaBrokers: broker.brokers };
    // What a killed process consumed waits for the end of its session.
    const environment = { KAFKA_SESSION_TIMEOUT_MS: "6000" };
    stack = await startVerificationStack({ servers, prefix, folder, environment, log: () => undefined });
    changeDetector = await startServiceProcess({
      name: "change-detector",
      environment: stack.environment,
      logFile: join(logDir, "change-detector.log"),
    });
    caller = sandboxCaller(stack);
  }, 180_000);

  afterAll(async () => {
    await changeDetector?.stop();
    await stack?.stop();
    await stack?.remove();
    await broker?.stop();
  }, 60_000);

  /** Expects that Kafka has exactly the stored verifications, and that all answered ones are stored. */
  async function expectAllPublished(answered: readonly string[]) {
    const { stored, published } = await outcome(stack);
    expect([...new Set(published)].toSorted()).toEqual(stored);
    expect(stored).toEqual(expect.arrayContaining([...answered]));
    return { stored, published };
  }

  test("loses and duplicates nothing when the process is killed repeatedly in the middle of its work", async () => {
    const entityId = await caller.entity("SANDBXCHNGE1");
    const monitors = Array.from({ length: MONITORS }, () => newId("mon"));
    const kafka = createKafka({
      brokers: broker.brokers,
      clientId: "test",
      topicPrefix: `${prefix}.`,
      logger: silentLogger,
    });
    const producer = kafka.producer();
    const requestRuns = (from: number, to: number) =>
      producer.send(
        monitors.flatMap((monitorId) =>
          Array.from({ length: to - from + 1 }, (_, index) => {
            const run = { monitorId, runSeq: BigInt(from + index) };
            const record = create(VerificationRequestedSchema, {
              recordId: `${monitorId}:${run.runSeq}`,
              tenant: caller.tenant,
              run,
              entityId,
              checks: [CheckType.SAM_REGISTRATION],
              requestedAt: timestampNow(),
            });
            const value = toBinary(VerificationRequestedSchema, record);
            return { topic: kafka.topicFor("sandbox", "verification.requested"), key: monitorId, value };
          }),
        ),
      );
    const answered: string[] = [];
    for (const [from, to] of [
      [1, RUNS / 2],
      [RUNS / 2 + 1, RUNS],
    ] as const) {
      await requestRuns(from, to);
      const before = answered.length;
      let isKilled = false;
      // On a busy machine some calls meet their deadline.
      const callOn = async () => {
        while (!isKilled)
          await caller.verify().then(
            (id) => answered.push(id),
            () => undefined,
          );
      };
      const calls = Array.from({ length: 50 }, callOn);
      await eventually(() => answered.length - before > 10, { everyMs: 1 });
      isKilled = true;
      await stack.killVerification();
      await Promise.all(calls);
      await stack.startVerification();
    }
    await producer.close();

    const changes = `${prefix}.sandbox.monitor.change_detected`;
    const expected = MONITORS * (RUNS - 1);
    await eventually(
      async () => {
        const records = await recordsOf({ brokers: broker.brokers, topic: changes });
        return records.length >= expected;
      },
      { timeoutMs: 60_000, everyMs: 500 },
    );
    await expectAllPublished(answered);
    await eventually(async () => (await unsent(stack, "change_detector")) === 0);
    const events = (await recordsOf({ brokers: broker.brokers, topic: changes })).map(({ value }) =>
      fromBinary(ChangeDetectedSchema, value),
    );
    for (const monitorId of monitors) {
      const runNumbers = events.filter(({ run }) => run?.monitorId === monitorId).map(({ run }) => Number(run!.runSeq));
      expect(runNumbers).toEqual(Array.from({ length: RUNS - 1 }, (_, index) => index + 2));
    }
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(expected);
  }, 120_000);

  test("lets calls succeed under load while Kafka is unavailable, and publishes what they answered, even if the process is killed before", async () => {
    const calls = { perSecond: 20, forMs: 3_000, call: async () => void answered.push(await caller.verify()) };
    const answered: string[] = [];
    await caller.verify();
    await broker.takeAway();
    const { failed } = await openLoop(calls);
    expect(failed).toBe(0);
    await stack.killVerification();
    expect(await unsent(stack, "verification")).toBeGreaterThanOrEqual(answered.length);
    await broker.restore();
    await stack.startVerification();
    const { published } = await expectAllPublished(answered);
    // None of these had reached Kafka before, so none is there twice.
    for (const id of answered) expect(published.filter((each) => each === id)).toHaveLength(1);
  }, 120_000);
});
