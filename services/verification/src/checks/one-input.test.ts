import { afterEach, describe, expect, test } from "@jest/globals";
import { Environment } from "@vvs/proto/common/v1/common";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { SamGovMisbehaviour } from "../../../../test/outside/sam-gov.ts";
import { putVendor, verifyResult } from "../testing/calls.ts";
import type { TestService } from "../testing/service.ts";

// Two organizations, two replicas and a simulated SAM.gov. One organization's input never closes it to the other one.

const BAD = "BADBADBADBA1";
const telemetry = recordTelemetry();
let replicas: readonly TestService[];
let vendors = 0;

// The meters exist only after telemetry has started.
const { startPlayedQueue } = await import("../testing/played-queue.ts");
const played = await startPlayedQueue("2026-11-22T09:00:00Z");
await played.startReplica();
/** Starts two replicas. `limits` differ from the defaults. */
async function start(limits = {}) {
  replicas = [await played.startReplica({}, { limits }), await played.startReplica({}, { limits })];
}
afterEach(async () => {
  played.sam.behave();
  await played.stopReplicas();
});

/** Verifies a vendor for a new organization on one of the replicas; returns the reasons of SAM.gov's attempts. */
async function verify(uei: string, { by = 0 } = {}) {
  const service = replicas[by % replicas.length]!;
  const { attempts } = await verifyResult(service, putVendor(service, { uei }));
  return attempts.find((each) => each.startsWith("sam_gov_api"))!.replace("sam_gov_api ", "");
}
/** Verifies a vendor of its own, which is registered. */
function verifyAnother(by = 0) {
  const uei = `GOODGOOD${String(++vendors).padStart(4, "0")}`;
  played.sam.register({ uei });
  return verify(uei, { by });
}
const inputFaults = async () => {
  const points = (await telemetry.metric("verification_provider_attempts"))!.dataPoints;
  const counted = points.filter(({ attributes }) => attributes.outcome === "input_fault");
  return counted.reduce((sum, { value }) => sum + (value as number), 0);
};

describe("one input of one organization, repeated, never makes SAM.gov unavailable to another organization", () => {
  test.each<[string, SamGovMisbehaviour, string, number]>([
    ["answers 400", { kind: "status", status: 400 }, "http_400", 12],
    ["fails", { kind: "status", status: 500 }, "http_500", 12],
    ["does not answer in time", { kind: "silent" }, "timeout", 3],
  ])("where SAM.gov %s", async (_name, how, reason, times) => {
    await start(reason === "timeout" ? { attemptMs: 2_000 } : {});
    played.sam.misbehave(how, { about: BAD });
    // One after the other on each replica, since questions at the same time share a call.
    const attack = async (by: number) => {
      for (let time = 0; time < times; time++) expect(await verify(BAD, { by })).toBe(`throw ${reason}`);
    };
    await Promise.all([attack(0), attack(1)]);
    for (const by of [0, 1]) {
      expect(await verify(BAD, { by })).toBe(`throw ${reason}`);
      expect(await verifyAnother(by)).toBe("pass");
    }
  });
});

test("inputs that SAM.gov refuses are counted apart from faults, and are no sign of an outage", async () => {
  await start();
  const before = await inputFaults();
  played.sam.misbehave({ kind: "status", status: 422 });
  for (let each = 0; each < 8; each++) expect(await verifyAnother(each)).toBe("throw http_422");
  expect((await inputFaults()) - before).toBe(8);
  const { providers } = await replicas[0]!.client.listProviders({ environment: Environment.LIVE });
  expect(providers[0]).toMatchObject({ name: "sam_gov_api", state: "available" });
});
