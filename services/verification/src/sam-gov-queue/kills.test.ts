import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Command, eventually, mongoProxy } from "@vvs/testing";
import { createTestMonitor, type PlayedQueue, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// A replica that parks a run, asks SAM.gov and verifies the run is killed at each of its writes; another one goes on.

let queue: PlayedQueue;
let survivor: TestService;
beforeAll(async () => {
  queue = await startPlayedQueue("2026-11-22T09:00:00Z");
  survivor = await queue.startReplica();
});
afterAll(() => queue.stop());

const COLLECTIONS = new Set([
  ...["parked_runs", "sam_gov_questions", "public_answers", "sam_gov_days", "sam_gov_asker"],
  ...["verifications", "evidence", "latest_answers", "outbox"],
]);
const READS = new Set(["find", "aggregate", "getMore"]);
const isStep = ({ name, collection }: Command) =>
  name === "commitTransaction" || (COLLECTIONS.has(collection) && !READS.has(name));

/** Takes a run through a replica that is killed at a write. Returns false where the run had ended before that write. */
async function runKilledAt(number: number, when: "before" | "after"): Promise<boolean> {
  const uei = `KILLED${when === "before" ? "B" : "A"}${String(number).padStart(5, "0")}`;
  const proxy = await mongoProxy(process.env.MONGODB_URI!);
  const leases = { askerLeaseMs: 300, resumeLeaseMs: 300 };
  const replica = await queue.startReplica({}, { mongodbUri: proxy.uri, queue: leases });
  // The survivor asked last, and would go on asking.
  await queue.collections().asker.updateOne({ _id: "asker" }, { $set: { owner: null, until: new Date(0) } });
  const files = () => queue.setFiles(uei, { registryCutDate: queue.daysAgo(21), exclusionsCutDate: queue.daysAgo(0) });
  const monitor = createTestMonitor({ uei }, { replicas: [survivor, replica] });
  files();
  expect(await monitor.run()).toBe("fail sam_gov_api not_found");
  queue.passHours(24);
  files();
  queue.sam.register({ uei });
  const calls = queue.sam.calls().length;

  const killed = proxy.killAt(number, when, isStep).then(() => true);
  const working = async () => {
    await monitor.run(replica);
    await replica.queue.ask();
    await replica.queue.resume();
    return false;
  };
  const failed = new Promise<never>(() => undefined);
  const wasKilled = await Promise.race([killed, working().catch(() => failed)]);

  if (wasKilled) {
    // Kafka delivers a record again whose offset was not committed.
    await monitor.again(survivor);
    await eventually(async () => {
      await survivor.queue.ask();
      await survivor.queue.resume();
      return (await monitor.result()) !== "parked";
    });
  }
  expect(await monitor.result()).toBe("pass sam_gov_api");
  const { live } = survivor.databases;
  const of = { organization_id: monitor.organizationId };
  expect(await live.collection("verifications").countDocuments(of)).toBe(2);
  expect(await live.collection("outbox").countDocuments({ key: monitor.monitorId, seq: 2 })).toBe(1);
  const { parkedRuns, questions } = queue.collections();
  expect(await parkedRuns.findOne(of)).toBeNull();
  expect(await questions.findOne({ _id: `uei:${uei}` })).toBeNull();
  // Only a kill between the call and the storing of its answer costs a second call.
  expect(queue.sam.calls().length - calls).toBeLessThanOrEqual(2);
  proxy.release();
  await queue.stopReplicas();
  proxy.close();
  return wasKilled;
}

test.each(["before", "after"] as const)(
  "a run ends once, whichever write its replica is killed at: %s the write",
  async (when) => {
    let number = 0;
    while (await runKilledAt(number, when)) number += 1;
    // Parking, asking, storing the answer and verifying have some writes each.
    expect(number).toBeGreaterThanOrEqual(12);
  },
  300_000,
);
