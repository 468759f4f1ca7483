import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CreateMonitorResponseSchema } from "@vvs/proto/monitor/v1/monitor";
import { JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { ProviderError } from "../providers/provider.ts";
import { passing, testProvider } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { type KilledWork, killAtEachWrite } from "../testing/kills.ts";
import { type PlayedQueue, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// A replica that is killed after each of its writes to jobs, rows and verifications; another one goes on, or repeats the call.

const COLLECTIONS = [
  "jobs",
  "job_rows",
  "job_starts",
  "idempotency_calls",
  "evidence_bodies",
  "verifications",
  "outbox",
];
/** Longer than a lease and than the first pause of a row that waits. */
const TURN_HOURS = 61 / 3_600;
const MONTH_HOURS = 31 * 24;

/** The monitors of entities. Like the monitor service, it has one of each. */
const monitorOf = new Map<string, string>();
const monitors = {
  async createMonitor({ entityId = "", unlessExists }: { entityId?: string; unlessExists?: boolean }) {
    if (!unlessExists && monitorOf.has(entityId)) throw new Error("a second monitor");
    const id = monitorOf.get(entityId) ?? newId("mon");
    monitorOf.set(entityId, id);
    return create(CreateMonitorResponseSchema, { monitor: { id } });
  },
} as never;

let worksFrom = 0;
const provider = testProvider("sam_gov_extract", "sam_registration", async ({ uei }) => {
  if (uei.startsWith("WAITS") && queue.now().getTime() < worksFrom) throw new ProviderError("timeout");
  const failing = { outcome: "fail", reason: "expired" } as const;
  return passing({ dataDate: queue.now(), ...(uei.startsWith("FAILS") && failing) });
});

const startReplica: PlayedQueue["startReplica"] = (variables, options) =>
  queue.startReplica(variables, { ...options, live: [provider], monitors });
const queue = await startPlayedQueue("2026-11-27T09:00:00Z");
const survivor = await startReplica();

/** A new organization with a list of vendors, which it may send to any of the replicas. */
function createList(replicas: readonly TestService[], id: string) {
  const organizationId = newId("org");
  const [passes, fails, waits] = ["PASSS", "FAILS", "WAITS"].map((prefix) => `${prefix}0${id}0`) as [
    string,
    ...string[],
  ];
  const idempotency = { apiKeyId: "key_1", path: "/v1/jobs", key: randomUUID(), bodyHash: new Uint8Array([1]) };
  worksFrom = queue.now().getTime() + 30_000;
  for (const { entities } of replicas) {
    entities.schedule.resolve = (identifiers) => `ent_${organizationId}_${identifiers!.uei}`;
    for (const uei of [passes, fails, waits!]) {
      const subject = { legalName: uei, uei };
      entities.put(organizationId, `ent_${organizationId}_${uei}`, { subject });
    }
  }
  const rows = [
    { row: 1, identifiers: { uei: passes, tin: "123456780" } },
    { row: 2, identifiers: { uei: fails! } },
    { row: 3, identifiers: { uei: waits! } },
    { row: 4, identifiers: { uei: passes, tin: "123456780" }, sameAs: 1 },
    { row: 5, legalName: "Nobody" },
    { row: 6, identifiers: { tin: "123456780" }, problems: [{ path: "identifiers", message: "missing" }] },
  ];
  const { databases } = survivor;
  const of = { organization_id: organizationId };
  return {
    ...jobsOf(survivor, organizationId),
    organizationId,
    /** Sends the list as the gateway does: in two calls, then the start. */
    async send(to: TestService): Promise<string> {
      const { add, startAdded } = jobsOf(to, organizationId);
      const jobId = await add(rows.slice(0, 3));
      await add(rows.slice(3), jobId);
      const monitor = { frequency: "daily", webhookUrl: "", activeLimit: 10 };
      return (await startAdded(jobId, rows.length, { monitor, idempotency })).job!.id;
    },
    count: (collection: string) => databases.live.collection(collection).countDocuments(of),
    openRows: () => databases.live.collection("job_rows").countDocuments({ ...of, due_at: { $exists: true } }),
    sealedTins: () => databases.live.collection("job_rows").countDocuments({ ...of, "input.tin": { $exists: true } }),
    /** The number of records that were published of its verifications. */
    async published(): Promise<number> {
      const stored = await databases.live.collection<{ _id: string }>("verifications").find(of).toArray();
      return databases.live.collection("outbox").countDocuments({ key: { $in: stored.map(({ _id }) => _id) } });
    },
  };
}

const { PASS, FAIL, NOT_FOUND, INVALID } = RowOutcome;
const turn = async (replica: TestService) => {
  queue.passHours(TURN_HOURS);
  await replica.jobs.live.work();
};

async function toFinish(replica: TestService, id: string): Promise<KilledWork> {
  const list = createList([survivor, replica], id);
  return {
    async work() {
      await list.send(replica);
      await replica.jobs.live.work();
      await turn(replica);
    },
    async recover() {
      queue.passHours(TURN_HOURS);
      await list.send(survivor);
      await turn(survivor);
      await turn(survivor);
    },
    async check() {
      const [job, ...others] = await list.jobs();
      expect(others).toEqual([]);
      expect(job).toMatchObject({ status: JobStatus.COMPLETED, done: 6 });
      const results = await list.results(job!.id);
      expect(results.map(({ outcome }) => outcome)).toEqual([PASS, FAIL, PASS, PASS, NOT_FOUND, INVALID]);
      expect(results[3]!.verification!.id).toBe(results[0]!.verification!.id);
      expect([await list.count("verifications"), await list.count("evidence"), await list.published()]).toEqual([
        3, 3, 3,
      ]);
      const monitored = results.slice(0, 4).map(({ monitorId }) => monitorId);
      expect(monitored).toEqual(results.slice(0, 4).map(({ entityId }) => monitorOf.get(entityId)));
      // Rows whose job was never started.
      queue.passHours(2);
      await survivor.jobs.live.removeAged();
      expect([await list.count("jobs"), await list.count("job_rows"), await list.sealedTins()]).toEqual([1, 6, 0]);
    },
  };
}

async function toCancel(replica: TestService, id: string): Promise<KilledWork> {
  const list = createList([survivor], id);
  const jobId = await list.send(survivor);
  await survivor.jobs.live.work();
  return {
    work: () => jobsOf(replica, list.organizationId).cancel(jobId),
    recover: () => list.cancel(jobId),
    async check() {
      await turn(survivor);
      expect(await list.jobs()).toMatchObject([{ status: JobStatus.CANCELED, done: 5, counts: { waiting: 0 } }]);
      expect((await list.results(jobId)).map(({ row }) => row)).toEqual([1, 2, 4, 5, 6]);
      expect([await list.openRows(), await list.sealedTins(), await list.count("verifications")]).toEqual([0, 0, 2]);
    },
  };
}

async function toRemove(replica: TestService, id: string): Promise<KilledWork> {
  const list = createList([survivor], id);
  await list.send(survivor);
  await survivor.jobs.live.work();
  await turn(survivor);
  expect(await list.jobs()).toMatchObject([{ status: JobStatus.COMPLETED }]);
  queue.passHours(MONTH_HOURS);
  return {
    work: () => replica.jobs.live.removeAged(),
    recover: () => survivor.jobs.live.removeAged(),
    async check() {
      expect([await list.count("jobs"), await list.count("job_rows")]).toEqual([0, 0]);
      expect(await list.count("verifications")).toBe(3);
    },
  };
}

test.each<[string, typeof toFinish, number]>([
  ["a job is sent again, goes on elsewhere, and has each row, verification, record and monitor once", toFinish, 18],
  ["a cancellation is repeated, and leaves no open row and no TIN", toCancel, 2],
  ["a job past its time is removed with its rows", toRemove, 2],
])(
  "whichever write a replica is killed at: %s",
  async (_name, prepare, least) => {
    await survivor.jobs.live.removeAged();
    const kills = await killAtEachWrite(
      { ...queue, startReplica },
      { when: "after", collections: COLLECTIONS },
      prepare,
    );
    expect(kills).toBeGreaterThanOrEqual(least);
  },
  300_000,
);
