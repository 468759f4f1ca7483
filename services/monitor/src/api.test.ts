import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { translateMongoError } from "@vvs/mongo";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Frequency, MonitorService, RunCause } from "@vvs/proto/monitor/v1/monitor";
import { createClient, serveRpc } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { silentLogger as logger, untilEnd } from "@vvs/testing";
import { createMonitorHandlers, monitorCallers } from "./api.ts";
import { createTestDomain, someCaller } from "./testing/domain.ts";

const stopping = new AbortController();
const sandbox = await createTestDomain();
const live = await createTestDomain({ environment: "live", prefix: sandbox.prefix });
/** Returns the service as another one calls it. */
const clientOf = (caller: string) =>
  untilEnd(createClient(MonitorService, { address: `127.0.0.1:${server.port}`, caller, tls: undefined }));

const server = untilEnd(
  await serveRpc({
    service: MonitorService,
    handlers: createMonitorHandlers({ live, sandbox }, stopping.signal),
    callers: monitorCallers,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    translate: translateMongoError,
  }),
);
const gateway = clientOf("gateway");

const wanted = () => ({
  caller: toProtoCaller(someCaller()),
  entityId: newId("ent"),
  checks: [CheckType.TIN_MATCH, CheckType.TIN_MATCH, CheckType.SAM_REGISTRATION],
  webhookUrl: "https://example.com/hook",
  frequency: Frequency.HOURLY,
  activeLimit: 100,
});
const page = { limit: 2 };

describe("over gRPC", () => {
  test("a monitor is created, read, changed and canceled", async () => {
    const request = wanted();
    const { caller } = request;
    const { monitor, replayed } = await gateway.createMonitor(request);
    expect(replayed).toBe(false);
    expect(monitor).toMatchObject({
      entityId: request.entityId,
      checks: [CheckType.TIN_MATCH, CheckType.SAM_REGISTRATION],
      frequency: Frequency.HOURLY,
      status: "active",
      consecutiveErrors: 0,
    });
    const monitorId = monitor!.id;
    expect((await gateway.getMonitor({ caller, monitorId })).monitor).toEqual(monitor);
    const changed = await gateway.updateMonitor({ caller, monitorId, frequency: Frequency.WEEKLY });
    expect(changed.monitor).toMatchObject({ frequency: Frequency.WEEKLY, webhookUrl: request.webhookUrl });
    const canceled = await gateway.cancelMonitor({ caller, monitorId });
    expect([canceled.monitor?.status, canceled.monitor?.nextRunAt]).toEqual(["canceled", undefined]);
    expect((await gateway.listEvents({ caller, monitorId, page })).events).toEqual([]);
  });

  test("lists come in pages, newest first", async () => {
    const request = wanted();
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift((await gateway.createMonitor(request)).monitor!.id);
    const first = await gateway.listMonitors({ caller: request.caller, page });
    const second = await gateway.listMonitors({ caller: request.caller, page: { ...page, after: first.next } });
    const listed = [...first.monitors, ...second.monitors].map(({ id }) => id);
    expect([listed.toSorted(), second.next]).toEqual([ids.toSorted(), undefined]);
  });

  test("a list can be filtered by entity, canceled status and outcome", async () => {
    const request = wanted();
    const { caller, entityId } = request;
    const [one, other] = [await gateway.createMonitor(request), await gateway.createMonitor(request)];
    await gateway.createMonitor({ ...request, entityId: newId("ent") });
    await gateway.cancelMonitor({ caller, monitorId: other.monitor!.id });
    const idsOf = async (filter: object) =>
      (await gateway.listMonitors({ caller, page: { limit: 10 }, ...filter })).monitors.map(({ id }) => id);
    expect(await idsOf({ entityId })).toEqual([one.monitor!.id]);
    expect(await idsOf({ canceled: true })).toEqual([other.monitor!.id]);
    await sandbox.monitors.updateOne(
      { _id: one.monitor!.id },
      { $set: { last_run: { at: new Date(), run_seq: 1, outcome: "error", verification_id: newId("ver") } } },
    );
    expect(await idsOf({ lastOutcome: CheckStatus.ERROR })).toEqual([one.monitor!.id]);
    expect(await idsOf({ lastOutcome: CheckStatus.PASS })).toEqual([]);
  });

  test.each([
    ["no checks", { checks: [] }],
    ["an unknown check", { checks: [CheckType.UNSPECIFIED] }],
    ["no frequency", { frequency: Frequency.UNSPECIFIED }],
    ["a URL with user info", { webhookUrl: "https://me:secret@example.com/" }],
    ["no caller", { caller: undefined }],
  ])("a creation with %s is refused", async (_name, change) => {
    await expect(gateway.createMonitor({ ...wanted(), ...change })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("another organization's monitor is answered exactly like one that does not exist", async () => {
    const { monitor } = await gateway.createMonitor(wanted());
    const refusalOf = (monitorId: string) =>
      gateway.getMonitor({ caller: toProtoCaller(someCaller()), monitorId }).catch((error: unknown) => error);
    const [foreign, absent] = await Promise.all([refusalOf(monitor!.id), refusalOf(newId("mon"))]);
    expect(foreign).toBeInstanceOf(ServiceError);
    const partsOf = ({ code, message, details }: ServiceError) => ({ code, message, details });
    expect(partsOf(foreign as ServiceError)).toEqual(partsOf(absent as ServiceError));
    expect((foreign as ServiceError).code).toBe("monitor_not_found");
  });

  test("a monitor's ended runs are listed newest first, page by page, and to no other organization", async () => {
    const { caller, ...rest } = wanted();
    const { monitor } = await gateway.createMonitor({ caller, ...rest });
    const monitorId = monitor!.id;
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    const run = (run_seq: number) => ({
      ...{
        _id: `${monitorId}:${run_seq}`,
        organization_id: caller.tenant.organizationId,
        monitor_id: monitorId,
        run_seq,
      },
      claimed_at: at(run_seq),
    });
    const ended = (run_seq: number) => ({
      ended_at: at(run_seq),
      outcome: "pass" as const,
      verification_id: `ver_${run_seq}`,
    });
    await sandbox.runs.insertMany([
      { ...run(11), ...ended(11) }, // by an older version, which stored no cause
      { ...run(12), ...ended(12), cause: "expiry" },
      { ...run(13), ...ended(13), cause: "file" },
      { ...run(14), cause: "schedule" },
    ]);
    const first = await gateway.listRuns({ caller, monitorId, page: { limit: 2 } });
    expect(first.runs.map(({ verificationId }) => verificationId)).toEqual(["ver_13", "ver_12"]);
    expect(first.runs.map(({ cause }) => cause)).toEqual([RunCause.FILE, RunCause.EXPIRY]);
    const second = await gateway.listRuns({ caller, monitorId, page: { limit: 2, after: first.next } });
    expect(second.runs.map(({ verificationId, cause }) => [verificationId, cause])).toEqual([
      ["ver_11", RunCause.SCHEDULE],
    ]);
    expect(second.next).toBeUndefined();
    const foreign = gateway.listRuns({ caller: toProtoCaller(someCaller()), monitorId, page });
    await expect(foreign).rejects.toMatchObject({ code: "monitor_not_found" });
  });

  test("the dashboard learns of many vendors which runs scheduled checks confirmed, and nobody else does", async () => {
    const { caller, ...rest } = { ...wanted(), checks: [CheckType.SAM_REGISTRATION] };
    const { monitor } = await gateway.createMonitor({ caller, ...rest });
    const at = sandbox.clock.at;
    const confirmed = { times: 2, last_at: new Date(at.getTime() + 2_000), data_as_of: { exclusions: at } };
    const last_run = { at, run_seq: 1, outcome: "pass" as const, verification_id: "ver_1", confirmed };
    await sandbox.monitors.updateOne({ _id: monitor!.id }, { $set: { last_run } });
    const dashboard = clientOf("dashboard");
    const asked = { caller, entityIds: [rest.entityId] };
    expect((await dashboard.listConfirmedRuns(asked)).runs).toMatchObject([
      {
        ...{ entityId: rest.entityId, monitorId: monitor!.id, verificationId: "ver_1" },
        at: timestampFromDate(at),
        confirmed: {
          times: 2,
          lastAt: timestampFromDate(confirmed.last_at),
          dataAsOf: { exclusions: timestampFromDate(at) },
        },
      },
    ]);
    const before = { ...asked, before: timestampFromDate(at) };
    expect((await dashboard.listConfirmedRuns(before)).runs).toEqual([]);
    await expect(gateway.listConfirmedRuns(asked)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("the events of another organization's monitor are not found", async () => {
    const { monitor } = await gateway.createMonitor(wanted());
    const events = gateway.listEvents({ caller: toProtoCaller(someCaller()), monitorId: monitor!.id, page });
    await expect(events).rejects.toMatchObject({ code: "monitor_not_found" });
  });

  test("the dashboard can read how many monitors count against the cap", async () => {
    const dashboard = clientOf("dashboard");
    const { caller, ...rest } = wanted();
    expect(await dashboard.countMonitors({ caller })).toMatchObject({ active: 0 });
    const { monitor } = await gateway.createMonitor({ caller, ...rest });
    await gateway.createMonitor({ caller, ...rest });
    await gateway.cancelMonitor({ caller, monitorId: monitor!.id });
    expect(await dashboard.countMonitors({ caller })).toMatchObject({ active: 1 });
  });

  test("verification learns which verifications are named, in each environment, and nobody else does", async () => {
    const verification = clientOf("verification");
    const request = wanted();
    const { monitor } = await gateway.createMonitor(request);
    const [id, monitorId] = [newId("ver"), monitor!.id];
    const last_run = { at: new Date(), run_seq: 1, outcome: "pass" as const, verification_id: id };
    await sandbox.monitors.updateOne({ _id: monitorId }, { $set: { last_run } });
    const { organizationId } = request.caller.tenant!;
    const asked = (environment: Environment) => ({
      environment,
      verifications: [{ id, organizationId, monitorId, runSeq: 1n }],
    });
    const { named } = await verification.releaseVerifications(asked(Environment.SANDBOX));
    expect(named.map((one) => [one.id, timestampDate(one.until!) > sandbox.clock.at])).toEqual([[id, true]]);
    expect((await verification.releaseVerifications(asked(Environment.LIVE))).named).toEqual([]);
    const refused = gateway.releaseVerifications(asked(Environment.SANDBOX));
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
  });

  test("services that are not in the list of callers are refused", async () => {
    await expect(
      clientOf("verification").listMonitors({ caller: toProtoCaller(someCaller()), page }),
    ).rejects.toMatchObject({
      code: "forbidden",
    });
  });
});
