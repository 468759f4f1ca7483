import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { checkNames, toCheckType } from "@vvs/checks";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { ProviderError } from "../providers/provider.ts";
import { evidenceOf, passing, putVendor, testProvider, verify } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const { PASS, FAIL, ERROR } = CheckStatus;
const uei = "SANDBXCHNGE1";

const OPEN_MS = 600_000;
/** How far the service's clock is ahead. */
let aheadMs = 0;
let outage: Error | undefined;
const service = await startTestService({
  circuit: { openMs: OPEN_MS },
  now: () => new Date(Date.now() + aheadMs),
  live: [
    testProvider("sam_gov_extract", "sam_registration", async () => {
      if (outage) throw outage;
      return passing();
    }),
  ],
});
for (const each of [uei, "SANDBXFALLB1", "SANDBXERRR01"]) {
  const record = { uei: each, legalName: "Sandbox Vendor", extractCode: "A", expirationDate: "2099-03-31" };
  service.entities.setRegistry(Environment.SANDBOX, each, { record });
}

async function ask(of: { org: string; uei: string; tin?: string; environment?: Environment }) {
  const { org: organizationId, uei, tin, environment = Environment.SANDBOX } = of;
  const vendor = putVendor(service, { organizationId, uei, ...(tin && { tin, tinHash: Buffer.from(tin).reverse() }) });
  return (await verify(service, vendor, { environment, checks: [tin ? TIN_MATCH : SAM_REGISTRATION] })).results[0]!;
}

describe("the sandbox's providers", () => {
  test("the changing vendor alternates separately for each organization, active first", async () => {
    const [one, other] = [newId("org"), newId("org")];
    const seen = [];
    for (const org of [one, one, other, one, other]) seen.push((await ask({ org, uei })).status);
    expect(seen).toEqual([PASS, FAIL, PASS, PASS, FAIL]);
  });

  test.each([
    ["SANDBXFALLB1", undefined, PASS, "sandbox_secondary"],
    ["SANDBXERRR01", undefined, ERROR, "none"],
    ["", "123456789", PASS, "sandbox_secondary"],
    ["", "123456783", FAIL, "sandbox_primary"],
    ["", "123456784", ERROR, "none"],
  ])("%s %s", async (vendor, tin, status, origin) => {
    const result = await ask({ org: newId("org"), uei: vendor, tin });
    expect([result.status, result.origin, Number(result.dataFreshnessSeconds)]).toEqual([status, origin, 0]);
  });
});

describe("the providers' health", () => {
  const list = async (environment: Environment) => (await service.client.listProviders({ environment })).providers;
  const org = newId("org");
  let vendors = 0;
  /** Asks about a vendor of its own. */
  const askLive = () => ask({ org, uei: `ABCDEFGH${1_000 + vendors++}`, environment: Environment.LIVE });

  test("the sandbox's stay available, since their outages are simulated", async () => {
    await ask({ org: newId("org"), uei: "SANDBXERRR01" });
    expect(await list(Environment.SANDBOX)).toMatchObject([
      { name: "sandbox_primary", checks: checkNames.map(toCheckType), state: "available" },
      { name: "sandbox_secondary", checks: checkNames.map(toCheckType), state: "available" },
    ]);
  });

  test("one fault degrades a provider, and five in a row open its circuit until a probe is answered; old data is no fault", async () => {
    const states: string[] = [];
    const after = async (error: Error | undefined, times: number) => {
      outage = error;
      for (let time = 0; time < times; time++) await askLive();
      states.push((await list(Environment.LIVE))[0]!.state);
    };
    await after(new ProviderError("stale_source", { isFault: false }), 1);
    expect((await list(Environment.LIVE))[0]!.lastSuccessAt).toBeUndefined();
    await after(new ProviderError("timeout"), 1);
    for (let fault = 0; fault < 4; fault++) await after(new TypeError("of the adapter"), 1);
    expect(states).toEqual(["available", "degraded", "degraded", "degraded", "degraded", "unavailable"]);
    const before = Date.now();
    outage = undefined;
    const refused = await askLive();
    expect(refused).toMatchObject({ status: ERROR, reason: "providers_failed" });
    const evidence = await evidenceOf(service, refused.evidenceId, org);
    expect(evidence.attempts).toMatchObject([{ outcome: "throw", reason: "circuit_open" }]);
    aheadMs += OPEN_MS;
    expect((await askLive()).status).toBe(PASS);
    const [extract] = await list(Environment.LIVE);
    expect(extract!.state).toBe("available");
    expect(timestampDate(extract!.lastSuccessAt!).getTime()).toBeGreaterThanOrEqual(before);
  });

  test("a call that several attempts shared counts as one fault", async () => {
    outage = new ProviderError("http_503");
    for (let time = 0; time < 6; time++) await askLive();
    expect((await list(Environment.LIVE))[0]!.state).toBe("degraded");
  });
});
