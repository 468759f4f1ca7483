import { randomBytes } from "node:crypto";
import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import type { Check } from "@vvs/checks";
import { newId } from "@vvs/ids";
import { type TopicName, topicNames } from "@vvs/kafka";
import { createOutbox } from "@vvs/outbox";
import { CheckType, IdempotencySchema } from "@vvs/proto/common/v1/common";
import { VerificationRequestedSchema, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import type { CallerContext } from "@vvs/tenant";
import { createWebhookRequests } from "../events/webhook-requests.ts";
import { createRuns } from "../runs/runs.ts";
import {
  createTestDomain,
  fastClock,
  HOUR,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  someMonitor,
} from "../testing/domain.ts";
import { createMonitorCommands } from "./monitor-commands.ts";

const anyEntity = { entityId: "", externalId: "" } as const;
const everyActive = { ...anyEntity, status: "active", lastOutcome: undefined, unansweredAt: undefined } as const;
const domain = await createTestDomain();
const { prefix } = domain;
const replica = await createTestDomain({ prefix });
const live = await createTestDomain({ environment: "live", prefix });

const requestsOf = async (id: string, topic: TopicName = "verification.requested") =>
  (await domain.published(topic, VerificationRequestedSchema)).filter(({ run }) => run?.monitorId === id);
const later = (ms: number) => new Date(domain.clock.at.getTime() + ms);
const someKey = (change: { key?: string; bodyHash?: Uint8Array } = {}) =>
  create(IdempotencySchema, {
    apiKeyId: newId("key"),
    path: "/v1/monitors",
    key: randomBytes(8).toString("hex"),
    bodyHash: Buffer.from("body"),
    ...change,
  });

describe("a monitor that a job makes sure of", () => {
  test("is created once by any number of calls at the same moment on two replicas", async () => {
    const [caller, wanted] = [someCaller(), someMonitor()];
    const calls = [domain, replica, domain, replica].map(({ commands }) => commands.ensure(caller, wanted));
    const ids = (await Promise.all(calls)).map(({ value }) => value._id);
    expect(new Set(ids).size).toBe(1);
    expect(await domain.store.activeMonitors(caller.tenant)).toBe(1);
  });

  test("is the one that is there, whoever created it, if entity, checks and URL are the same", async () => {
    const [caller, wanted] = [someCaller(), someMonitor()];
    const { value: first } = await domain.commands.create(caller, wanted);
    expect((await domain.commands.ensure(caller, wanted)).value._id).toBe(first._id);
    const others = [{ webhookUrl: "https://example.com/other" }, { checks: ["tin_match"] as const }];
    for (const other of others) {
      expect((await domain.commands.ensure(caller, { ...wanted, ...other })).value._id).not.toBe(first._id);
    }
    expect((await domain.commands.ensure(someCaller(), wanted)).value._id).not.toBe(first._id);
  });

  test("is another one once it was canceled or its URL has changed", async () => {
    const [caller, wanted] = [someCaller(), someMonitor()];
    const { value: first } = await domain.commands.ensure(caller, wanted);
    await domain.commands.cancel(caller, first._id);
    const { value: second } = await domain.commands.ensure(caller, wanted);
    await domain.commands.update(caller, second._id, { webhookUrl: "https://example.com/changed" });
    const { value: third } = await domain.commands.ensure(caller, wanted);
    expect(new Set([first, second, third].map(({ _id }) => _id)).size).toBe(3);
  });
});

describe("a new monitor", () => {
  test("is due immediately for its first run, and one interval later by the schedule", async () => {
    const caller = someCaller();
    const wanted = someMonitor();
    const { value, replayed } = await domain.commands.create(caller, wanted);
    expect([replayed, value.next_run_at]).toEqual([false, later(15 * SECOND)]);
    expect(await domain.store.find(caller.tenant, value._id)).toEqual(value);
    expect(await requestsOf(value._id)).toEqual([]);
    await domain.scheduler.claimDue();
    expect((await domain.store.find(caller.tenant, value._id))?.next_run_at).toEqual(value.next_run_at);
    expect(await requestsOf(value._id)).toMatchObject([
      { recordId: `${value._id}:1`, entityId: wanted.entityId, checks: [1], run: { runSeq: 1n } },
    ]);
    expect(await domain.runs.countDocuments({ monitor_id: value._id })).toBe(1);
  });

  test.each<[Check[], CheckType[]]>([
    [["tin_match"], [CheckType.TIN_MATCH]],
    [
      ["sam_registration", "tin_match"],
      [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH],
    ],
  ])("with the checks %j requests its runs on the topic of runs with tin_match only", async (checks, sent) => {
    const { _id: id } = await domain.started(someCaller(), someMonitor({ checks }));
    const requests = await requestsOf(id, "verification.requested.tin_match");
    expect(requests).toMatchObject([{ recordId: `${id}:1`, checks: sent }]);
    expect(await requestsOf(id)).toEqual([]);
  });

  test("needs an entity that the caller sees", async () => {
    const wanted = someMonitor({ entityId: domain.unknownEntity });
    await expect(domain.commands.create(someCaller(), wanted)).rejects.toMatchObject({ code: "entity_not_found" });
  });

  test.each([
    ["sandbox", "http://127.0.0.1/hook"],
    ["sandbox", "ftp://example.com/hook"],
    ["live", "http://example.com/hook"],
  ] as const)("is refused with a webhook_url that may not be called: %s %s", async (environment, webhookUrl) => {
    const target = environment === "live" ? live : domain;
    await expect(target.commands.create(someCaller(environment), someMonitor({ webhookUrl }))).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "webhook_url" }],
    });
  });

  test("is only visible to its own organization and environment", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor());
    const strangers = [
      domain.store.find(someCaller().tenant, value._id),
      live.store.find({ ...caller.tenant, environment: "live" }, value._id),
    ];
    expect(await Promise.all(strangers)).toEqual([undefined, undefined]);
    expect((await domain.store.list(someCaller().tenant, everyActive, { limit: 10 } as never)).items).toEqual([]);
    await expect(domain.commands.cancel(someCaller(), value._id)).rejects.toMatchObject({
      code: "monitor_not_found",
    });
  });
});

describe("the cap of active monitors", () => {
  const codesOf = (attempts: PromiseSettledResult<unknown>[]) =>
    attempts.map((attempt) => (attempt.status === "rejected" ? attempt.reason.code : "done"));
  const ofOrganization = ({ tenant }: CallerContext) => ({ organization_id: tenant.organizationId });

  test("allows exactly the limit out of 24 concurrent creations on two replicas, and a refused one stores nothing", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ activeLimit: 20 });
    const codes = codesOf(
      await Promise.allSettled(
        Array.from({ length: 24 }, (_, index) => (index % 2 ? replica : domain).commands.create(caller, wanted)),
      ),
    );
    expect(codes.toSorted()).toEqual([...Array(20).fill("done"), ...Array(4).fill("limit_exceeded")]);
    expect(await domain.monitors.countDocuments(ofOrganization(caller))).toBe(20);
    expect(await domain.store.activeMonitors(caller.tenant)).toBe(20);
  });

  test("is checked without waiting for another creation of the organization with an open transaction", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ activeLimit: 2 });
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stalled = createMonitorCommands({
      ...domain,
      runs: createRuns({ db: domain.db, outbox: createOutbox({ db: domain.db }), topics: topicNames }),
      webhooks: createWebhookRequests({ outbox: createOutbox({ db: domain.db }), topic: "webhook.requested" }),
      idempotency: {
        once: async ({ run }) => ({ value: await run(undefined), replayed: false }),
        complete: () => {
          reached.resolve();
          return released.promise;
        },
      },
      expectEntity: async () => undefined,
      allowPrivateTargets: false,
      runTimeoutMs: RUN_TIMEOUT_MS,
      fastClock,
      nudge: () => undefined,
      now: () => domain.clock.at,
    });
    const open = stalled.create(caller, wanted);
    await reached.promise;
    await replica.commands.create(caller, wanted);
    await expect(replica.commands.create(caller, wanted)).rejects.toMatchObject({ code: "limit_exceeded" });
    released.resolve();
    await open;
    expect(await domain.monitors.countDocuments(ofOrganization(caller))).toBe(2);
  });

  test("refuses before the entity is looked up, and has room again after a failed creation", async () => {
    const caller = someCaller();
    const unknown = someMonitor({ activeLimit: 1, entityId: domain.unknownEntity });
    await expect(domain.commands.create(caller, unknown)).rejects.toMatchObject({ code: "entity_not_found" });
    await domain.commands.create(caller, someMonitor({ activeLimit: 1 }));
    await expect(domain.commands.create(caller, unknown)).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  test("counts neither canceled monitors nor those of other organizations", async () => {
    const caller = someCaller();
    for (let round = 0; round < 5; round++) {
      const { value } = await domain.commands.create(caller, someMonitor({ activeLimit: 1 }));
      await Promise.all([domain.commands.cancel(caller, value._id), domain.commands.cancel(caller, value._id)]);
    }
    expect(await domain.store.activeMonitors(caller.tenant)).toBe(0);
  });

  test("recounts active monitors if a crash left its counter too high", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ activeLimit: 2 });
    const canceled = (await domain.commands.create(caller, wanted)).value;
    await domain.commands.create(caller, wanted);
    const counter = { _id: caller.tenant.organizationId };
    const tooHigh = { active: 2, changed_at: new Date(0) };
    await domain.commands.cancel(caller, canceled._id);
    await domain.counts.updateOne(counter, { $set: tooHigh });
    await domain.commands.create(caller, wanted);
    await expect(domain.commands.create(caller, wanted)).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  test("frees one place per monitor, for 10 concurrent cancellations of one monitor and of 10, which all succeed", async () => {
    const caller = someCaller();
    const created = await Promise.all(Array.from({ length: 12 }, () => domain.commands.create(caller, someMonitor())));
    const [one, , ...others] = created.map(({ value }) => value._id);
    const cancel = (id: string, index: number) => (index % 2 ? replica : domain).commands.cancel(caller, id);
    const canceled = await Promise.all(Array.from({ length: 10 }, (_, index) => cancel(one!, index)));
    expect(new Set(canceled.map(({ status }) => status))).toEqual(new Set(["canceled"]));
    expect(await domain.store.activeMonitors(caller.tenant)).toBe(11);
    await Promise.all(others.map(cancel));
    expect(await domain.store.activeMonitors(caller.tenant)).toBe(1);
  });
});

describe("an idempotency key", () => {
  test("returns the first answer again, even if the monitor has changed since", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ idempotency: someKey() });
    const first = await domain.commands.create(caller, wanted);
    await domain.commands.update(caller, first.value._id, {
      frequency: "weekly",
      webhookUrl: "https://example.com/2",
    });
    const last_run = { run_seq: 1, at: domain.clock.at, outcome: "error", verification_id: "ver_1" } as const;
    await domain.monitors.updateOne({ _id: first.value._id }, { $set: { last_run, consecutive_errors: 1 } });
    await domain.commands.cancel(caller, first.value._id);
    const again = await domain.commands.create(caller, wanted);
    expect(again.replayed).toBe(true);
    expect(again.value).toMatchObject({
      _id: first.value._id,
      status: "active",
      frequency: "daily",
      webhook_url: wanted.webhookUrl,
      next_run_at: first.value.next_run_at,
      consecutive_errors: 0,
    });
    expect(again.value).not.toHaveProperty("last_run");
    expect(await domain.monitors.countDocuments({ organization_id: caller.tenant.organizationId })).toBe(1);
  });

  test("is refused with another body", async () => {
    const caller = someCaller();
    const key = someKey();
    await domain.commands.create(caller, someMonitor({ idempotency: key }));
    const other = someMonitor({ idempotency: { ...key, bodyHash: Buffer.from("other") } });
    await expect(domain.commands.create(caller, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });

  test("of a refused creation can be used again", async () => {
    const caller = someCaller();
    const idempotency = someKey();
    await expect(
      domain.commands.create(caller, someMonitor({ idempotency, entityId: domain.unknownEntity })),
    ).rejects.toMatchObject({ code: "entity_not_found" });
    expect((await domain.commands.create(caller, someMonitor({ idempotency }))).replayed).toBe(false);
  });
});

describe("a monitor's number", () => {
  test("is stored, changed and removed, and lists find it in this organization and environment only", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor({ externalId: "M-1" }));
    await domain.commands.create(caller, someMonitor({ externalId: "OTHER" }));
    const listed = async (externalId: string, { store, tenant } = { store: domain.store, tenant: caller.tenant }) =>
      (await store.list(tenant, { ...everyActive, externalId }, { limit: 10 } as never)).items.map(({ _id }) => _id);
    expect(await listed("M-1")).toEqual([value._id]);
    expect(await listed("M-1", { store: domain.store, tenant: someCaller().tenant })).toEqual([]);
    const inLive = { store: live.store, tenant: { ...caller.tenant, environment: "live" } } as const;
    expect(await listed("M-1", inLive)).toEqual([]);
    const changed = await domain.commands.update(caller, value._id, { externalId: "M-2" });
    expect(changed).toEqual({ ...value, external_id: "M-2" });
    expect([await listed("M-1"), await listed("M-2")]).toEqual([[], [value._id]]);
    await domain.commands.update(caller, value._id, { frequency: "weekly" });
    expect(await listed("M-2")).toEqual([value._id]);
    expect(await domain.commands.update(caller, value._id, { externalId: null })).not.toHaveProperty("external_id");
    expect(await listed("M-2")).toEqual([]);
  });

  test("that is the entity's TIN is refused", async () => {
    const caller = someCaller();
    const isTheTin = { code: "invalid_request", details: [{ path: "external_id" }] };
    const wanted = someMonitor({ externalId: domain.entityTin });
    await expect(domain.commands.create(caller, wanted)).rejects.toMatchObject(isTheTin);
    const { value } = await domain.commands.create(caller, someMonitor({ externalId: "M-1" }));
    const change = domain.commands.update(caller, value._id, { externalId: domain.entityTin });
    await expect(change).rejects.toMatchObject(isTheTin);
    expect(await domain.store.find(caller.tenant, value._id)).toEqual(value);
  });

  test("changes also after an own entity took over the monitored one, for which no new monitor can be made", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor({ externalId: "M-1" }));
    await domain.monitors.updateOne({ _id: value._id }, { $set: { entity_id: domain.unknownEntity } });
    expect(await domain.commands.update(caller, value._id, { externalId: "M-2" })).toMatchObject({
      external_id: "M-2",
    });
  });

  test("is in the first answer that an idempotency key repeats, as it was", async () => {
    const caller = someCaller();
    for (const externalId of ["M-1", undefined]) {
      const wanted = someMonitor({ externalId, idempotency: someKey() });
      const { value } = await domain.commands.create(caller, wanted);
      await domain.commands.update(caller, value._id, { externalId: "M-2" });
      expect((await domain.commands.create(caller, wanted)).value.external_id).toBe(externalId);
    }
  });

  test("is found in an index, one page at a time", async () => {
    const caller = someCaller();
    for (let index = 0; index < 5; index++) await domain.commands.create(caller, someMonitor({ externalId: "TWIN" }));
    const filter = { organization_id: caller.tenant.organizationId, status: "active", external_id: "TWIN" } as const;
    const plan = await domain.monitors.find(filter).sort({ created_at: -1, _id: -1 }).limit(2).explain();
    expect(plan.executionStats).toMatchObject({ totalKeysExamined: 2, totalDocsExamined: 2 });
  });
});

describe("a changed monitor", () => {
  test("keeps its next run if only the URL changes", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor());
    const changed = await domain.commands.update(caller, value._id, {
      frequency: undefined,
      webhookUrl: "https://example.com/other",
    });
    expect(changed).toEqual({ ...value, webhook_url: "https://example.com/other", url_version: 1 });
  });

  test("runs next within one period of its new frequency", async () => {
    const caller = someCaller("live");
    const { value } = await live.commands.create(caller, someMonitor({ frequency: "monthly" }));
    live.clock.at = new Date(value.next_run_at!.getTime() - 1);
    for (const [frequency, periodMs] of [
      ["hourly", HOUR],
      ["weekly", 7 * 24 * HOUR],
    ] as const) {
      const changed = await live.commands.update(caller, value._id, { frequency, webhookUrl: undefined });
      const inMs = changed.next_run_at!.getTime() - live.clock.at.getTime();
      expect(inMs).toBeGreaterThan(0);
      expect(inMs).toBeLessThanOrEqual(periodMs);
    }
  });

  test("still has the run that was due before its frequency changed", async () => {
    const caller = someCaller("live");
    const { _id: id, next_run_at } = await live.started(caller, someMonitor({ frequency: "daily" }));
    live.clock.at = next_run_at!;
    const changed = await live.commands.update(caller, id, { frequency: "monthly" });
    expect(changed).toMatchObject({ frequency: "monthly", next_run_at });
    live.pass(RUN_TIMEOUT_MS);
    while (await live.monitors.countDocuments({ _id: id, run_seq: 1 })) await live.scheduler.claimDue();
    const claimed = (await live.store.find(caller.tenant, id))!;
    expect(claimed).toMatchObject({ run_seq: 2, last_due_at: next_run_at });
    expect(claimed.next_run_at!.getTime()).toBeGreaterThan(live.clock.at.getTime());
  });

  test("can't be changed once canceled", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor());
    await domain.commands.cancel(caller, value._id);
    const change = { frequency: "hourly", webhookUrl: undefined } as const;
    await expect(domain.commands.update(caller, value._id, change)).rejects.toMatchObject({
      code: "monitor_canceled",
    });
  });

  test("reports each new URL with its number to the webhook-dispatcher, and an unchanged URL not at all", async () => {
    const caller = someCaller();
    const { value } = await domain.commands.create(caller, someMonitor());
    const change = (webhookUrl: string | null | undefined) =>
      domain.commands.update(caller, value._id, { frequency: undefined, webhookUrl });
    for (const url of ["https://example.com/2", "https://example.com/2", undefined, null, null]) await change(url);
    const passedOn = (await domain.published("webhook.requested", WebhookRequestedSchema)).filter(
      ({ run }) => run?.monitorId === value._id,
    );
    expect(passedOn).toMatchObject([
      { urlChanged: true, webhookUrl: "https://example.com/2", urlVersion: 1n, run: { runSeq: 1n } },
      { urlChanged: true, webhookUrl: "", urlVersion: 2n },
    ]);
  });

  test("loses its URL, and a repeated creation shows the one it was created with", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ idempotency: someKey() });
    const { value } = await domain.commands.create(caller, wanted);
    await domain.commands.update(caller, value._id, { frequency: undefined, webhookUrl: null });
    expect((await domain.store.find(caller.tenant, value._id))?.webhook_url).toBeUndefined();
    expect((await domain.commands.create(caller, wanted)).value.webhook_url).toBe(wanted.webhookUrl);
  });

  test("that was created without a URL gets one, and a repeated creation shows none", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ idempotency: someKey(), webhookUrl: undefined });
    const { value } = await domain.commands.create(caller, wanted);
    const webhookUrl = "https://example.com/other";
    const changed = await domain.commands.update(caller, value._id, { frequency: undefined, webhookUrl });
    expect(changed.webhook_url).toBe(webhookUrl);
    expect((await domain.commands.create(caller, wanted)).value.webhook_url).toBeUndefined();
  });
});

test("a canceled monitor can be canceled again with the same answer, and is no longer listed", async () => {
  const caller = someCaller();
  const { value } = await domain.commands.create(caller, someMonitor());
  const first = await domain.commands.cancel(caller, value._id);
  expect([first.status, first.next_run_at]).toEqual(["canceled", undefined]);
  expect(await domain.commands.cancel(caller, value._id)).toEqual(first);
  expect((await domain.store.list(caller.tenant, everyActive, { limit: 10 } as never)).items).toEqual([]);
  expect((await domain.store.find(caller.tenant, value._id))?.status).toBe("canceled");
});

describe("a cancellation requests once that the open run ends if it waits for SAM.gov's API", () => {
  const canceling = async (environment: "live" | "sandbox", checks: readonly Check[], hasEnded = false) => {
    const own = await createTestDomain({ environment });
    const caller = someCaller(environment);
    const { _id: id } = await own.started(caller, someMonitor({ checks }));
    if (hasEnded) await own.monitors.updateOne({ _id: id }, { $unset: { open_run: true } });
    await Promise.all([1, 2, 3].map(() => own.commands.cancel(caller, id)));
    const rows = await own.db.collection("outbox").find({ key: id }).sort({ seq: 1, _id: 1 }).toArray();
    const records = rows.map((row) => fromBinary(VerificationRequestedSchema, row.value.buffer));
    return rows.map(({ topic, seq }, index) => {
      const { canceled, run, recordId } = records[index]!;
      expect([run!.monitorId, recordId]).toEqual([id, `${id}:${seq}`]);
      return `${topic} ${run!.runSeq}${canceled ? " canceled" : ""}`;
    });
  };

  test.each<[string, "live" | "sandbox", Check[], boolean, string[]]>([
    [
      "of the run's topic",
      "live",
      ["sam_registration"],
      false,
      ["verification.requested 1", "verification.requested 1 canceled"],
    ],
    [
      "of the topic of runs with tin_match",
      "live",
      ["sam_registration", "tin_match"],
      false,
      ["verification.requested.tin_match 1", "verification.requested.tin_match 1 canceled"],
    ],
    ["not of a run without sam_registration", "live", ["tin_match"], false, ["verification.requested.tin_match 1"]],
    ["not of a run that has ended", "live", ["sam_registration"], true, ["verification.requested 1"]],
    ["not in the sandbox", "sandbox", ["sam_registration"], false, ["verification.requested 1"]],
  ])("%s", async (_name, environment, checks, hasEnded, expected) => {
    expect(await canceling(environment, checks, hasEnded)).toEqual(expected);
  });
});
