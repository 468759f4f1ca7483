import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { createLogger } from "@vvs/logging";
import { type PlayedSamGov, playSamGov } from "../../../../../test/outside/sam-gov.ts";
import { askAbout, type TestQuestion } from "../../testing/sam-gov-api.ts";
import type { CallClass } from "../call-class.ts";
import { providersSection } from "../config.ts";
import { createLiveProviders } from "../live-providers.ts";
import { type MonitorRun, ProviderError } from "../provider.ts";

const UEI = "PLAYEDUEI001";
const ueiOf = (index: number) => `PLAYEDUEI${String(index).padStart(3, "0")}`;
const run = (runSeq: number): MonitorRun => ({ monitorId: "mon_1", runSeq });

let sam: PlayedSamGov;
/** The class of each call that was counted, and the number of calls that had reached SAM.gov before it. */
let counted: { callClass: CallClass; reached: number }[];
/** Classes that may make no call. */
let refused: Set<CallClass>;
const closers: (() => unknown)[] = [];
beforeEach(async () => {
  sam = await playSamGov();
  counted = [];
  refused = new Set();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await sam.close();
});

function start() {
  const env = { SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl, SAM_GOV_GATHER_MS: "20" };
  const [provider] = createLiveProviders({
    config: loadConfig(z.object(providersSection), env),
    entities: { getRegistryRecord: () => Promise.reject(new Error("the entity service is down")) },
    takeCall: async (name, callClass) => {
      expect(name).toBe("sam_gov_api");
      if (refused.has(callClass)) throw new ProviderError("quota_exhausted", { isFault: false });
      counted.push({ callClass, reached: sam.calls().length });
    },
    now: () => new Date(),
    logger: createLogger({ service: "test", level: "silent" }),
    onClose: (_name, close) => void closers.push(close),
  });
  return (question: TestQuestion = {}) => askAbout(UEI, provider!, question);
}
const classes = () => counted.map(({ callClass }) => callClass);

test.each<[string, MonitorRun | undefined, CallClass]>([
  ["an API caller's question", undefined, "direct"],
  ["a monitor's first run", run(1), "first"],
  ["a monitor's later run", run(2), "runs"],
])("the calls for %s are counted in its class, each before it is made", async (_name, asking, callClass) => {
  sam.register({ uei: UEI });
  await start()({ run: asking });
  expect(counted).toEqual([
    { callClass, reached: 0 },
    { callClass, reached: 1 },
  ]);
  expect(sam.calls()).toHaveLength(2);
});

test("every page counts", async () => {
  for (let row = 0; row < 24; row++) sam.register({ uei: UEI, eftIndicator: String(row) });
  sam.register({ uei: UEI, exclusionFlag: "Y" });
  await start()();
  expect(classes()).toEqual(["direct", "direct", "direct"]);
  expect(sam.calls()).toHaveLength(3);
});

test("each repetition of a refused query in halves counts", async () => {
  for (const index of [1, 2, 3]) sam.register({ uei: ueiOf(index), exclusionFlag: "Y" });
  sam.choke(ueiOf(3));
  const ask = start();
  await Promise.all([1, 2, 3].map((index) => ask({ uei: ueiOf(index), run: run(2) })));
  // All three; the first two and the last one.
  expect(classes()).toEqual(["runs", "runs", "runs"]);
  expect(sam.calls()).toHaveLength(3);
});

test("questions of different classes never share a call, so that no class spends or waits for another's quota", async () => {
  sam.register({ uei: UEI, exclusionFlag: "Y" });
  sam.misbehave({ kind: "slow", afterMs: 50 });
  refused.add("first");
  const ask = start();
  const [direct, first, later] = await Promise.allSettled(
    [undefined, run(1), run(2)].map((each) => ask({ run: each })),
  );
  expect(direct).toMatchObject({ status: "fulfilled", value: { reason: "excluded" } });
  expect(first).toMatchObject({ status: "rejected", reason: { reason: "quota_exhausted", isFault: false } });
  expect(later).toMatchObject({ status: "fulfilled", value: { reason: "excluded" } });
  expect(classes().toSorted()).toEqual(["direct", "runs"]);
});

test("a class without calls left makes no call, and gets an error that is nobody's fault", async () => {
  refused.add("direct");
  await expect(start()()).rejects.toMatchObject({ reason: "quota_exhausted", isFault: false, shutUntil: undefined });
  expect(sam.calls()).toEqual([]);
});
