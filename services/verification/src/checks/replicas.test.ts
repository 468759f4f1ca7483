import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Environment } from "@vvs/proto/common/v1/common";
import { type Provider, ProviderError } from "../providers/provider.ts";
import { passing, putVendor, testProvider, verifyResult } from "../testing/calls.ts";
import { startTestService, type TestService } from "../testing/service.ts";

const OPEN_MS = 600_000;

/** What the first provider throws, if anything; the second always answers. */
let trouble: ((provider: string) => Error) | undefined;
let asked = 0;
/** How far the services' clocks are ahead. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);
const providersNamed = (first: string): Provider[] => [
  testProvider(first, "sam_registration", async () => {
    asked++;
    if (trouble) throw trouble(first);
    return passing();
  }),
  testProvider("second"),
];

const start = (live: readonly Provider[], prefix?: string) =>
  startTestService({
    live,
    prefix,
    now,
    circuit: { openMs: OPEN_MS, faultsInRow: 3 },
  });

let owner: TestService;
beforeAll(async () => {
  owner = await start([]);
});
afterAll(() => owner.stop());
beforeEach(() => {
  trouble = undefined;
  asked = 0;
});

let vendors = 0;
/** Verifies a vendor of its own; returns the attempts in the evidence. */
async function attempts(service: TestService) {
  const vendor = putVendor(service, { uei: `ABCDEFGH${1_000 + vendors++}` });
  return (await verifyResult(service, vendor)).attempts;
}

const stateOf = async (service: TestService) =>
  (await service.client.listProviders({ environment: Environment.LIVE })).providers[0]!;

test("a circuit that one replica opened stops other and restarted replicas from calling the provider; checks fall back, and one probe closes it", async () => {
  const live = providersNamed("failing");
  const [one, other] = [await start(live, owner.prefix), await start(live, owner.prefix)];
  trouble = () => new ProviderError("http_503");
  for (let fault = 0; fault < 3; fault++) {
    expect(await attempts(one)).toEqual(["failing throw http_503", "second pass"]);
  }
  expect(await attempts(one)).toEqual(["failing throw circuit_open", "second pass"]);
  await one.stop();
  const restarted = await start(live, owner.prefix);
  expect(asked).toBe(3);
  expect(await attempts(restarted)).toEqual(["failing throw circuit_open", "second pass"]);
  expect(await attempts(other)).toEqual(["failing throw circuit_open", "second pass"]);
  expect(asked).toBe(3);
  expect(await stateOf(other)).toMatchObject({ state: "unavailable" });
  trouble = undefined;
  aheadMs += OPEN_MS;
  expect(await stateOf(restarted)).toMatchObject({ name: "failing", state: "degraded" });
  expect(await attempts(other)).toEqual(["failing pass"]);
  while ((await stateOf(restarted)).state !== "available") aheadMs += 1_000;
  expect(await attempts(restarted)).toEqual(["failing pass"]);
  await Promise.all([other.stop(), restarted.stop()]);
});

test("no replica calls a provider whose quota is used up before its reset, also after a restart", async () => {
  const live = providersNamed("throttled");
  const one = await start(live, owner.prefix);
  const shutUntil = new Date(now().getTime() + OPEN_MS);
  trouble = () => new ProviderError("quota_exhausted", { isFault: false, shutUntil });
  expect(await attempts(one)).toEqual(["throttled throw quota_exhausted", "second pass"]);
  await one.stop();
  trouble = undefined;
  const restarted = await start(live, owner.prefix);
  expect(await attempts(restarted)).toEqual(["throttled throw quota_exhausted", "second pass"]);
  expect(asked).toBe(1);
  expect(await stateOf(restarted)).toMatchObject({ state: "unavailable", quotaRemaining: 0n });
  aheadMs += OPEN_MS;
  expect(await attempts(restarted)).toEqual(["throttled pass"]);
  expect(asked).toBe(2);
  await restarted.stop();
});
