import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { runOutboxRelay } from "@vvs/outbox";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { atEnd, eventually, silentLogger, untilEnd } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { callerIn, createTestDomain, HOUR, someMonitor } from "../../services/monitor/src/testing/domain.ts";
import { startChangeDetector } from "../support/change-detector.ts";
import { type CommandCounts, commandsDuring, monitored, total } from "../support/command-counts.ts";
import { startCostStack } from "./stack.ts";

// How many commands MongoDB gets for a monitor: for its creation, and for a run over all services, from the search for due
// monitors to the lists of vendors. They don't depend on the machine's speed.

/** Reads without being counted. */
/** Number of runs whose verification is stored. */
let ran = 0;

const uri = monitored(process.env.MONGODB_URI!);
const stack = await startCostStack();
const monitors = await createTestDomain({ uri, environment: "live" });
const detector = await startChangeDetector({ uri, prefix: monitors.prefix, now: () => monitors.clock.at });
stack.onCompleted.push(detector.detect, monitors.records.verificationCompleted);
const watcher = untilEnd(await new MongoClient(process.env.MONGODB_URI!).connect());
const run = stack.verification.runOf("live");
const relay = runOutboxRelay({
  db: monitors.db,
  producer: {
    send: async (records) => {
      for (const { value } of records) await run(fromBinary(VerificationRequestedSchema, value!));
      ran += records.length;
    },
  },
  owner: "test",
  logger: silentLogger,
  pollMs: 50,
});
atEnd(() => relay.stop());

const create = (organizationId: string) =>
  monitors.commands.create(
    callerIn({ organizationId, environment: "live" }),
    someMonitor({ entityId: stack.vendorId }),
  );

/** Starts what is due, until change-detector, monitor and the lists have noted the run's verification, and nothing is left. */
async function countRun(): Promise<CommandCounts> {
  const { client, db } = monitors;
  const outbox = watcher.db(db.databaseName).collection("outbox");
  const before = ran;
  return commandsDuring([client, detector.client, ...stack.clients], async () => {
    expect(await monitors.scheduler.claimDue()).toMatchObject({ claimed: 1 });
    relay.nudge();
    await eventually(() => ran === before + 1);
    await stack.publish(1);
    await eventually(async () => (await outbox.countDocuments({ key: { $exists: true } })) === 0);
  });
}

test("a monitor's run costs at most 33 commands, and its first one 37", async () => {
  await create("org_1");
  const first = await countRun();
  monitors.pass(24 * HOUR);
  const next = await countRun();
  expect(total(first)).toBeLessThanOrEqual(37);
  expect(total(next)).toBeLessThanOrEqual(33);
});

test("creating a monitor costs at most 5 commands, and an organization's first one 9", async () => {
  const count = () => commandsDuring([monitors.client], () => create("org_2"));
  const counts = [await count(), await count()];
  expect(total(counts[0]!)).toBeLessThanOrEqual(9);
  expect(total(counts[1]!)).toBeLessThanOrEqual(5);
});
