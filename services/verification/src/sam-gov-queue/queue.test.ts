import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { eventually } from "@vvs/testing";
import { ProviderError } from "../providers/provider.ts";
import { evidenceOf, putVendor, verifyResult } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { createTestMonitor, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// The service with its queue: runs of monitors with files, kept answers and a simulated SAM.gov.

let service: TestService;
let serial = 0;
let uei: string;

const queue = await startPlayedQueue("2026-11-22T09:00:00Z");
await queue.startReplica();
beforeEach(async () => {
  serial += 1;
  uei = `PLAYED${String(serial).padStart(6, "0")}`;
  queue.setTime("2026-11-22T09:00:00Z");
  // A replica remembers SAM.gov's state, so each test has its own.
  service = await queue.startReplica();
});
afterEach(async () => {
  queue.sam.behave();
  await queue.stopReplicas();
  const { parkedRuns, questions } = queue.collections();
  await Promise.all([parkedRuns.deleteMany({}), questions.deleteMany({}), queue.freeAsker()]);
});

const monitorOf = (subject: Parameters<typeof createTestMonitor>[0] = { uei }, replicas = [service]) =>
  createTestMonitor(subject, { replicas });
const callsAbout = (vendor: string) => queue.sam.calls().filter(({ query }) => query.ueiSAM?.includes(vendor));

/** The extract of three weeks ago with this row, and today's exclusions file without the vendor. */
function files(row: object | undefined, more: object = {}) {
  return {
    ...(row && { record: { uei, legalName: "V", extractCode: "A", expirationDate: "2027-03-01", ...row } }),
    registryCutDate: "2026-11-01",
    registryLoad: "registry:1",
    exclusionsCutDate: queue.daysAgo(0),
    exclusionsLoad: "exclusions:1",
    ...more,
  };
}

const work = (by = service) => queue.work(by);

describe("a monitor's first run", () => {
  test("asks like a direct call", async () => {
    queue.sam.register({ uei });
    queue.setFiles(uei, files({}));
    expect(await monitorOf().run()).toBe("pass sam_gov_api");
    expect(callsAbout(uei)).toHaveLength(1);
  });

  test("waits where the API fails and the files can't know, and is answered by the queue", async () => {
    queue.sam.register({ uei });
    queue.setFiles(uei, files(undefined));
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("pass sam_gov_api");
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });
});

describe("a later run", () => {
  /** A monitor whose first run was answered by the API. */
  async function monitorAfterFirstRun({ isListed = true } = {}) {
    if (isListed) queue.sam.register({ uei });
    queue.setFiles(uei, files(isListed ? {} : undefined));
    const monitor = monitorOf();
    await monitor.run();
    return monitor;
  }

  test("is answered by the files and the stored answer, without a call", async () => {
    const monitor = await monitorAfterFirstRun();
    queue.passHours(24);
    queue.setFiles(uei, files({}));
    const calls = queue.sam.calls().length;
    expect(await monitor.run()).toBe("pass sam_gov_api");
    expect(queue.sam.calls()).toHaveLength(calls);
    const other = monitorOf();
    queue.sam.misbehave({ kind: "status", status: 503 });
    expect(await other.run()).toBe("pass sam_gov_extract");
  });

  test("waits for the API once the registration has expired since its date: renewed", async () => {
    queue.setFiles(uei, files({ expirationDate: "2026-11-21" }));
    queue.sam.misbehave({ kind: "status", status: 503 });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("parked");
    queue.sam.behave();
    await service.databases.live.collection("provider_state").deleteMany({});
    queue.sam.register({ uei, expirationDate: "2027-11-21" });
    expect(await monitor.run()).toBe("parked");
    expect(await monitor.result(1)).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("pass sam_gov_api");
    const { results } = (await monitor.verificationOf(2))!;
    const content = JSON.parse((await evidenceOf(service, results[0]!.evidence_id, monitor.organizationId)).content);
    expect(content.answers[0].url).toContain(`ueiSAM=${uei}&`);
    expect(content.answers[0].body.entityData[0].entityRegistration.ueiSAM).toBe(uei);
    expect(content.rests_on.registration.origin).toBe("sam_gov_api");
    // The run that it superseded never ends, and leaves nothing behind.
    expect(await monitor.verificationOf(1)).toBeNull();
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });

  test("waits where the extract lacks the vendor, asked with those without a registration", async () => {
    const monitor = await monitorAfterFirstRun({ isListed: false });
    expect(await monitor.result()).toBe("fail sam_gov_api not_found");
    queue.passHours(24);
    queue.setFiles(uei, files(undefined));
    expect(await monitor.run()).toBe("parked");
    expect(await queue.collections().questions.findOne()).toMatchObject({ kind: "absent", priority: 1 });
    await work();
    expect(await monitor.result()).toBe("fail sam_gov_api not_found");
    expect(await queue.collections().questions.countDocuments()).toBe(0);
  });

  test("is answered with what other organizations' runs were answered on the same day, and asks again on the next", async () => {
    const monitor = await monitorAfterFirstRun({ isListed: false });
    const other = monitorOf();
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    expect(await other.run()).toBe("parked");
    await work();
    expect(await other.result()).toBe("fail sam_gov_api not_found");
    const calls = queue.sam.calls().length;
    queue.setTime("2026-11-22T23:59:59Z");
    expect(await monitor.run()).toBe("fail sam_gov_api not_found");
    expect(await other.run()).toBe("fail sam_gov_api not_found");
    expect(queue.sam.calls()).toHaveLength(calls);
    queue.setTime("2026-11-23T00:00:00Z");
    queue.setFiles(uei, files(undefined));
    expect(await other.run()).toBe("parked");
    expect(await queue.collections().questions.findOne()).toMatchObject({ kind: "absent", priority: 2 });
    await work();
    expect(await other.result()).toBe("fail sam_gov_api not_found");
    const { asked_at, not_active_since } = (await queue.collections().publicAnswers.findOne({ _id: `uei:${uei}` }))!;
    expect([asked_at, not_active_since].map((each) => each!.toISOString().slice(0, 10))).toEqual([
      "2026-11-23",
      "2026-11-22",
    ]);
  });

  test("waits where a new exclusions file contradicts the extract's flag, and asks for exclusions too", async () => {
    queue.sam.register({ uei });
    queue.setFiles(uei, files({ excluded: true }));
    queue.sam.misbehave({ kind: "status", status: 503 });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("parked");
    queue.sam.behave();
    await service.databases.live.collection("provider_state").deleteMany({});
    await work();
    expect(await monitor.result()).toBe("pass sam_gov_api");
    expect(callsAbout(uei).map(({ api }) => api)).toContain("exclusions");
  });

  test("ends as an error, and asks nothing, where only the exclusions file is overdue", async () => {
    const monitor = await monitorAfterFirstRun();
    queue.passHours(24 * 4);
    queue.setFiles(uei, files({}, { exclusionsCutDate: "2026-11-22" }));
    expect(await monitor.run()).toBe("error none stale_source");
    expect(await queue.collections().questions.countDocuments()).toBe(0);
  });

  test("asks for exclusions where no exclusions file was ever loaded", async () => {
    const none = { exclusionsCutDate: "", exclusionsLoad: "" };
    queue.sam.register({ uei });
    queue.sam.exclude({ uei });
    queue.setFiles(uei, files({}, none));
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("fail sam_gov_api excluded");
    queue.sam.forget(uei);
    queue.sam.register({ uei });
    expect(await monitor.run()).toBe("fail sam_gov_api excluded");
    queue.setTime("2026-11-23T00:00:00Z");
    expect(await monitor.run()).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("pass sam_gov_api");
  });

  test("of a vendor known by its CAGE waits too", async () => {
    queue.sam.register({ uei, cage: "4AB12" });
    const cage = "4AB12";
    const monitor = monitorOf({ cage });
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    expect(await monitor.run()).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("pass sam_gov_api");
  });

  test("ends as an error where SAM.gov can't answer about its vendor", async () => {
    queue.sam.register({ uei, expirationDate: "soon" });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("parked");
    await work();
    expect(await monitor.result()).toBe("error none stale_source");
    expect(await queue.collections().questions.countDocuments()).toBe(0);
  });

  test("is answered by the kept answer again once the extract that was newer is withdrawn", async () => {
    queue.setFiles(uei, files(undefined));
    queue.sam.register({ uei });
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    expect(await monitorOf().run()).toBe("parked");
    await work();
    queue.passHours(24);
    const bad = { registryCutDate: queue.daysAgo(0), registryLoad: "registry:bad" };
    queue.setFiles(uei, files({}, bad));
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const monitor = monitorOf();
    expect(await monitor.run()).toBe("pass sam_gov_extract");
    queue.setFiles(uei, files({}, { withdrawnLoads: [bad.registryLoad] }));
    expect(await monitor.run()).toBe("pass sam_gov_api");
  });

  test("is answered by a newer extract than the kept answer", async () => {
    const monitor = await monitorAfterFirstRun({ isListed: false });
    queue.passHours(24 * 3);
    queue.setFiles(uei, files({}, { registryCutDate: "2026-11-25" }));
    expect(await monitor.run()).toBe("pass sam_gov_extract");
  });
});

describe("a run that waits", () => {
  async function parkedMonitor(replicas = [service]) {
    queue.sam.register({ uei });
    queue.setFiles(uei, files(undefined));
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const monitor = monitorOf({ uei }, replicas);
    expect(await monitor.run()).toBe("parked");
    return monitor;
  }

  test("is parked once if its record comes again, before and after it has ended", async () => {
    const monitor = await parkedMonitor();
    await monitor.again();
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(1);
    expect((await queue.collections().questions.findOne())!.runs).toBe(1);
    await work();
    await monitor.again();
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
    const stored = service.databases.live.collection("verifications");
    expect(await stored.countDocuments({ organization_id: monitor.organizationId })).toBe(1);
  });

  test("is superseded by a newer run, even by one that need not wait", async () => {
    const monitor = await parkedMonitor();
    queue.setFiles(uei, files({}));
    expect(await monitor.run()).toBe("pass sam_gov_extract");
    const { parkedRuns, questions } = queue.collections();
    expect([await parkedRuns.countDocuments(), await questions.countDocuments()]).toEqual([0, 0]);
    await monitor.again(service, 1);
    expect(await monitor.result(1)).not.toBe("error");
  });

  test("ends with its monitor: nothing is asked only for it, and nothing is reported", async () => {
    const [monitor, other] = [await parkedMonitor(), monitorOf()];
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const calls = queue.sam.calls().length;
    await monitor.cancel();
    await work();
    expect(queue.sam.calls()).toHaveLength(calls);
    expect(await other.run()).toBe("parked");
    const alsoCanceled = monitorOf();
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    expect(await alsoCanceled.run()).toBe("parked");
    await alsoCanceled.cancel();
    await work();
    expect(await other.result()).toBe("pass sam_gov_api");
    const outbox = service.databases.live.collection("outbox");
    for (const { monitorId, verificationOf } of [monitor, alsoCanceled]) {
      expect(await verificationOf(1)).toBeNull();
      expect(await outbox.countDocuments({ key: monitorId })).toBe(0);
    }
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });

  test("of a canceled monitor is removed although it was answered", async () => {
    const monitor = await parkedMonitor();
    await service.queue.ask();
    await monitor.cancel();
    await service.queue.resume();
    expect(await monitor.result()).toBe("parked");
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });

  test("stays as it ended where its monitor is canceled afterwards", async () => {
    const monitor = await parkedMonitor();
    await work();
    await monitor.cancel();
    expect(await monitor.result()).toBe("pass sam_gov_api");
    const stored = service.databases.live.collection("verifications");
    expect(await stored.countDocuments({ organization_id: monitor.organizationId })).toBe(1);
  });

  test.each([-60_000, 60_000])(
    "around midnight is asked and verified once by two replicas whose clocks differ by %i ms",
    async (differenceMs) => {
      queue.setTime("2028-02-28T23:59:30Z");
      const other = await queue.startReplica({}, { now: () => new Date(queue.now().getTime() + differenceMs) });
      const monitor = await parkedMonitor([service, other]);
      const calls = callsAbout(uei).length;
      await eventually(async () => {
        await Promise.all([service, other].map((each) => each.queue.ask()));
        await Promise.all([service, other].map((each) => each.queue.resume()));
        if ((await monitor.result()) === "parked") queue.passHours(1 / 60);
        return (await monitor.result()) !== "parked";
      });
      expect(await monitor.result()).toBe("pass sam_gov_api");
      expect(callsAbout(uei)).toHaveLength(calls + 1);
      const stored = service.databases.live.collection("verifications");
      expect(await stored.countDocuments({ organization_id: monitor.organizationId })).toBe(1);
    },
  );

  test("ends with errors where its entity is gone", async () => {
    const monitor = await parkedMonitor();
    service.entities.put(monitor.organizationId, monitor.entityId, { subject: { entityId: "" } });
    await work();
    expect(await monitor.result()).toBe("error none entity_not_found");
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });

  test("stays while the entity service is unavailable, and is verified afterwards", async () => {
    const monitor = await parkedMonitor();
    await service.queue.ask();
    service.entities.schedule.registry = () => Promise.reject(new Error("down"));
    await expect(service.queue.resume()).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await monitor.result()).toBe("parked");
    delete service.entities.schedule.registry;
    await queue.collections().parkedRuns.updateMany({}, { $set: { "lease.until": new Date(0) } });
    await service.queue.resume();
    expect(await monitor.result()).toBe("pass sam_gov_api");
  });

  test("ends as an error where the API is no longer used, once no replica asks", async () => {
    const monitor = await parkedMonitor();
    const without = await queue.startReplica({ SAM_GOV_API_KEY: undefined });
    without.entities.put(monitor.organizationId, monitor.entityId, { subject: { legalName: "V", uei } });
    await work(without);
    expect(await monitor.result()).toBe("parked");
    queue.passHours(1);
    await service.databases.live
      .collection<{ _id: string }>("sam_gov_asker")
      .updateOne({ _id: "asker" }, { $set: { owner: "another replica", until: new Date(Date.now() + 60_000) } });
    await work(without);
    expect(await monitor.result()).toBe("parked");
    await queue.collections().asker.updateOne({ _id: "asker" }, { $set: { until: new Date(0) } });
    await work(without);
    expect(await monitor.result()).toBe("error none stale_source");
  });

  test("keeps no TIN provider busy before it is decided that it waits, and is matched afterwards", async () => {
    let asked = 0;
    const withTin = await queue.startReplica(
      {},
      {
        async tin() {
          asked += 1;
          throw new ProviderError("timeout");
        },
      },
    );
    queue.setFiles(uei, files(undefined));
    queue.sam.register({ uei });
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    const monitor = createTestMonitor(
      { uei, tinHash: new Uint8Array([1]) },
      { checks: ["tin_match", "sam_registration"], replicas: [withTin] },
    );
    expect(await monitor.run()).toBe("parked");
    expect(asked).toBe(0);
    await work(withTin);
    expect(asked).toBe(1);
    const { results } = (await monitor.verificationOf(1))!;
    expect(results.map(({ check_type, status }) => `${check_type} ${status}`)).toEqual([
      "tin_match error",
      "sam_registration pass",
    ]);
  });

  test.each(["flat", "fault"] as const)(
    "waits until a used-up quota is reset, also across a restart: %s",
    async (shape) => {
      const monitor = await parkedMonitor();
      const nextAccessTime = "2026-Nov-22 12:00:00+0000 UTC";
      queue.sam.misbehave({ kind: "throttled", shape, nextAccessTime }, { calls: 1 });
      await work();
      expect(await monitor.result()).toBe("parked");
      const calls = queue.sam.calls().length;
      const states = service.databases.live.collection<{ _id: string }>("provider_state");
      await eventually(() => states.findOne({ _id: "sam_gov_api", shut: { $exists: true } }));
      const restarted = await queue.startReplica();
      restarted.entities.put(monitor.organizationId, monitor.entityId, { subject: { legalName: "V", uei } });
      queue.setFiles(uei, files(undefined));
      await queue.collections().asker.updateOne({ _id: "asker" }, { $set: { until: new Date(0) } });
      await work(restarted);
      expect(queue.sam.calls()).toHaveLength(calls);
      queue.setTime("2026-11-22T12:00:01Z");
      await work(restarted);
      expect(await monitor.result()).toBe("pass sam_gov_api");
    },
  );
});

test("tomorrow's calls are planned by the replica that asks, and by another one once that has stopped", async () => {
  const other = await queue.startReplica();
  const plan = async (by: TestService) => {
    await by.queue.ask();
    await by.queue.storePlan();
    const { days } = queue.collections();
    return (await days.findOneAndUpdate({ _id: "2026-11-23" }, { $unset: { planned_calls: 1 } }))?.planned_calls;
  };
  expect([await plan(service), await plan(other)]).toEqual([expect.any(Number), undefined]);
  await queue.collections().asker.updateOne({ _id: "asker" }, { $set: { until: new Date(0) } });
  queue.passHours(1);
  expect([await plan(other), await plan(service)]).toEqual([expect.any(Number), undefined]);
});

describe("a job's row", () => {
  /** Starts a job with one vendor; returns its row's outcome and, of a verified one, its origin. */
  async function startJob() {
    const { organizationId, entityId } = putVendor(service, { uei, legalName: "V" });
    const { start, results, cancel } = jobsOf(service, organizationId);
    const id = await start([{ entityId }]);
    const row = async () => {
      await service.jobs.live.work();
      const { outcome, verification } = (await results(id))[0]!;
      return `${RowOutcome[outcome]} ${verification?.results.map(({ origin }) => origin) ?? ""}`.trim();
    };
    return Object.assign(row, { cancel: () => cancel(id) });
  }

  test("is answered by the files without a call, where they can know", async () => {
    queue.setFiles(uei, files({}));
    const row = await startJob();
    expect(await row()).toBe("PASS sam_gov_extract");
    expect(callsAbout(uei)).toEqual([]);
  });

  test("waits for the API where they can't, is asked by the queue, and is answered then", async () => {
    queue.sam.register({ uei });
    queue.setFiles(uei, files(undefined));
    const row = await startJob();
    expect(await row()).toBe("WAITING");
    expect(await row()).toBe("WAITING");
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(1);
    await work();
    expect(await row()).toBe("PASS sam_gov_api");
    expect(callsAbout(uei).length).toBeGreaterThan(0);
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });

  test("takes its question along when its job is canceled, unless somebody else waits for it", async () => {
    queue.sam.register({ uei });
    queue.setFiles(uei, files(undefined));
    const [one, other] = [await startJob(), await startJob()];
    expect([await one(), await other()]).toEqual(["WAITING", "WAITING"]);
    await one.cancel();
    expect(await queue.collections().questions.countDocuments()).toBe(1);
    await other.cancel();
    const { parkedRuns, questions } = queue.collections();
    expect([await parkedRuns.countDocuments(), await questions.countDocuments()]).toEqual([0, 0]);
    await work();
    expect(callsAbout(uei)).toEqual([]);
  });

  test("leaves no question where its job is canceled while it is about to wait", async () => {
    queue.setFiles(uei, files(undefined));
    const gate = Promise.withResolvers<void>();
    const inFlight = Promise.withResolvers<void>();
    service.entities.schedule.registry = async () => {
      inFlight.resolve();
      await gate.promise;
    };
    const row = await startJob();
    const working = service.jobs.live.work();
    await inFlight.promise;
    await row.cancel();
    gate.resolve();
    await working;
    const { parkedRuns, questions } = queue.collections();
    expect([await parkedRuns.countDocuments(), await questions.countDocuments()]).toEqual([0, 0]);
  });
});

test("organizations' jobs take turns: a short one is not behind all rows of a long one that is asked about since", async () => {
  const startJob = async (name: string, vendors: number) => {
    const organizationId = newId("org");
    const ueis = Array.from({ length: vendors }, (_, index) => `${name}${String(index).padStart(5, "0")}`);
    const rows = ueis.map((each) => {
      queue.setFiles(each, files(undefined));
      return putVendor(service, { organizationId, uei: each, legalName: "V" });
    });
    await jobsOf(service, organizationId).start(rows.map(({ entityId }) => ({ entityId })));
    await service.jobs.live.work();
    return (calls: readonly { query: { ueiSAM?: string } }[]) =>
      ueis.filter((each) => calls.some(({ query }) => query.ueiSAM?.includes(each))).length;
  };
  const asksLong = await startJob("LONGJOB", 150);
  queue.passHours(1 / 60);
  const asksShort = await startJob("SHORTJB", 3);
  const before = queue.sam.calls().length;
  queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
  await service.queue.ask();
  const first = queue.sam.calls().slice(before);
  expect(asksShort(first)).toBe(3);
  expect(asksLong(first)).toBe(97);
});

describe("direct calls", () => {
  const verify = async (organizationId: string) => {
    const { first } = await verifyResult(service, putVendor(service, { organizationId, uei }));
    return `${first.origin} ${first.reason}`.trim();
  };

  test("use a kept answer where the API fails, for a day", async () => {
    queue.setFiles(uei, files(undefined));
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    await monitorOf().run();
    await work();
    queue.sam.misbehave({ kind: "status", status: 503 });
    queue.setTime("2026-11-23T08:59:59Z");
    queue.setFiles(uei, files(undefined));
    expect(await verify("org_1")).toBe("sam_gov_api not_found");
    queue.setTime("2026-11-23T09:00:01Z");
    expect(await verify("org_2")).toBe("none stale_source");
    expect(await queue.collections().parkedRuns.countDocuments()).toBe(0);
  });
});
