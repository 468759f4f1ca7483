import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { createSandboxRegistration } from "../providers/sandbox/sandbox-providers.ts";
import { questionOf, requestedRun, verify } from "../testing/calls.ts";
import { tinHashOf } from "../testing/entities.ts";
import { startTestService } from "../testing/service.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const TIN = "471829360";
const entity = { subject: { legalName: "Acme LLC", uei: "ABCDEFGHJK12", tinHash: tinHashOf(TIN) }, tin: TIN };

const circuit = { faultsInRow: 1 };
const service = await startTestService({ circuit });

let org: string;
let entityId: string;
beforeEach(() => {
  org = newId("org");
  entityId = newId("ent");
  service.entities.put(org, entityId, entity);
  Object.assign(service.entities.schedule, { registry: undefined, reveal: undefined, resolved: undefined });
});

const verifyHere = (checks: CheckType[], environment = Environment.SANDBOX, mode = Mode.REALTIME, by = service) =>
  verify(by, { organizationId: org, entityId }, { checks, environment, mode });

async function storedOf(environment: "live" | "sandbox"): Promise<number[]> {
  const counts = ["verifications", "evidence", "latest_answers"].map((name) =>
    service.databases[environment].collection(name).countDocuments({ organization_id: org }),
  );
  return Promise.all(counts);
}

const unavailable = async () => {
  throw new ServiceError("service_unavailable");
};
const broken = async () => {
  throw new Error("an unexpected error");
};

describe("where the entity service can't read what a check needs", () => {
  test.each([
    ["the registry's row", { registry: unavailable }, SAM_REGISTRATION],
    ["the registry's row, by a fault", { registry: broken }, SAM_REGISTRATION],
    ["the TIN", { reveal: unavailable }, TIN_MATCH],
    ["the TIN, by a fault", { reveal: broken }, TIN_MATCH],
  ])("a call is refused as unavailable and nothing is stored: %s", async (_name, schedule, check) => {
    Object.assign(service.entities.schedule, schedule);
    await expect(verifyHere([check])).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(verifyHere([check], undefined, Mode.CACHED)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await storedOf("sandbox")).toEqual([0, 0, 0]);
  });

  test("from the loaded files, a live call is refused and nothing is stored, not even for a check that has ended", async () => {
    service.entities.schedule.registry = unavailable;
    await expect(verifyHere([TIN_MATCH, SAM_REGISTRATION], Environment.LIVE)).rejects.toMatchObject({
      code: "service_unavailable",
    });
    expect(await storedOf("live")).toEqual([0, 0, 0]);
  });

  test("a call is also refused when the entity service does not answer within the attempt's time", async () => {
    const options = { prefix: service.prefix, circuit };
    const short = await startTestService({ ...options, limits: { attemptMs: 300 } });
    short.entities.put(org, entityId, entity);
    const over = Promise.withResolvers<void>();
    Object.assign(short.entities.schedule, { registry: () => over.promise, reveal: () => over.promise });
    for (const check of [SAM_REGISTRATION, TIN_MATCH]) {
      await expect(verifyHere([check], undefined, undefined, short)).rejects.toMatchObject({
        code: "service_unavailable",
      });
    }
    over.resolve();
    expect(await storedOf("sandbox")).toEqual([0, 0, 0]);
  });

  test("no provider's health is affected: its circuit stays closed", async () => {
    Object.assign(service.entities.schedule, { registry: unavailable, reveal: unavailable });
    await expect(verifyHere([SAM_REGISTRATION, TIN_MATCH])).rejects.toMatchObject({ code: "service_unavailable" });
    const { providers } = await service.client.listProviders({ environment: Environment.SANDBOX });
    expect(providers.map(({ state }) => state)).toEqual(["available", "available"]);
  });

  test("a monitor's run is made when its record is handled again", async () => {
    service.entities.schedule.registry = unavailable;
    const record = requestedRun({ organizationId: org, entityId }, { environment: Environment.SANDBOX });
    await expect(service.runOf("sandbox")(record)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await storedOf("sandbox")).toEqual([0, 0, 0]);
    service.entities.schedule.registry = undefined;
    await service.runOf("sandbox")(record);
    expect(await storedOf("sandbox")).toEqual([1, 1, 1]);
  });
});

test("a call on the changing vendor that can't be counted is our own outage", async () => {
  const countCall = () => Promise.reject(new Error("the database is unavailable"));
  const entities = { getRegistryRecord: async () => ({ exclusions: [] }) as never };
  const provider = createSandboxRegistration({ name: "sandbox_primary", entities, countCall, now: () => new Date() });
  const tenant = { organizationId: "org_1", environment: "sandbox" as const };
  const question = questionOf({ tenant, uei: "SANDBXCHNGE1" });
  await expect(provider.ask(question, { signal: new AbortController().signal })).rejects.toMatchObject({
    code: "service_unavailable",
  });
});

test("a call whose time is over before any check begins is refused, and no provider is asked", async () => {
  const short = await startTestService({ limits: { callMs: 20 } });
  short.entities.resolveTo(entityId);
  short.entities.put(org, entityId, { subject: { legalName: "Acme LLC" } });
  let asked = 0;
  Object.assign(short.entities.schedule, {
    resolved: () => new Promise((resolve) => setTimeout(resolve, 50)),
    registry: async () => void asked++,
  });
  const call = verify(
    short,
    { organizationId: org, entityId },
    {
      environment: Environment.SANDBOX,
      target: { case: "vendor", value: { identifiers: { uei: "ABCDEFGHJK12" } } },
    },
  );
  await expect(call).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked).toBe(0);
  expect(await short.databases.sandbox.collection("verifications").countDocuments()).toBe(0);
});
