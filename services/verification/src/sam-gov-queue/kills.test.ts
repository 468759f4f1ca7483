import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { type KilledWork, killAtEachWrite } from "../testing/kills.ts";
import { createTestMonitor, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// A replica that parks a run, asks SAM.gov and verifies the run is killed at each of its writes; another one goes on.

const queue = await startPlayedQueue("2026-11-22T09:00:00Z");
const survivor = await queue.startReplica();

const COLLECTIONS = [
  ...["parked_runs", "sam_gov_questions", "public_answers", "sam_gov_days", "sam_gov_asker"],
  ...["verifications", "evidence", "latest_answers", "outbox"],
];

async function prepare(replica: TestService, id: string): Promise<KilledWork> {
  const uei = `KILLED0${id}`;
  const files = () => queue.setFiles(uei, { registryCutDate: queue.daysAgo(21), exclusionsCutDate: queue.daysAgo(0) });
  const monitor = createTestMonitor({ uei }, { replicas: [survivor, replica] });
  files();
  expect(await monitor.run()).toBe("fail sam_gov_api not_found");
  queue.passHours(24);
  files();
  queue.sam.register({ uei });
  const calls = queue.sam.calls().length;
  return {
    async work() {
      await monitor.run(replica);
      await queue.work(replica);
    },
    async recover() {
      // Kafka delivers a record again whose offset was not committed.
      await monitor.again(survivor);
      await eventually(async () => {
        await queue.work(survivor);
        return (await monitor.result()) !== "parked";
      });
    },
    async check() {
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
    },
  };
}

test.each(["before", "after"] as const)(
  "a run ends once, whichever write its replica is killed at: %s the write",
  async (when) => {
    const kills = await killAtEachWrite(queue, { when, collections: COLLECTIONS }, prepare);
    // Parking, asking, storing the answer and verifying have some writes each.
    expect(kills).toBeGreaterThanOrEqual(12);
  },
  300_000,
);
