import { create } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { atEnd, silentLogger } from "@vvs/testing";
import { exclusionsPart } from "../../testing/parts.ts";
import { askAbout, type Files, samGovForEachTest, type TestQuestion, UEI } from "../../testing/sam-gov-api.ts";
import type { CallClass } from "../call-class.ts";
import { providersSection } from "../config.ts";
import { createLiveProviders } from "../live-providers.ts";
import { type MonitorRun, ProviderError } from "../provider.ts";

const NOW = new Date("2026-11-21T09:30:00.000Z");
const ueiOf = (index: number) => `PLAYEDUEI${String(index).padStart(3, "0")}`;
const file = (exclusionsCutDate: string, ...exclusions: object[]): Files => ({
  exclusionsCutDate,
  exclusions,
  exclusionsLoad: "exclusions:1",
});
const fresh = file("2026-11-20");
const run = (runSeq: number): MonitorRun => ({ monitorId: "mon_1", runSeq });

const { sam } = samGovForEachTest(NOW);
/** The class of each call that was counted, and the number of calls that had reached SAM.gov before it. */
let counted: { callClass: CallClass; reached: number }[];
/** Classes that may make no call. */
let refused: Set<CallClass>;
/** Number of calls that may still be made. */
let callsLeft: number;
beforeEach(() => {
  counted = [];
  refused = new Set();
  callsLeft = Number.POSITIVE_INFINITY;
});

/** `files`: what the entity service knows of each vendor; it is down where absent. */
function start(files?: Files) {
  const env = { SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl };
  const [provider] = createLiveProviders({
    config: loadConfig(z.object(providersSection), env),
    entities: {
      getRegistryRecord: async () => {
        if (!files) throw new Error("the entity service is down");
        return create(RegistryAnswerSchema, files);
      },
    },
    takeCall: async (name, callClass) => {
      expect(name).toBe("sam_gov_api");
      if (refused.has(callClass) || callsLeft === 0) throw new ProviderError("quota_exhausted", { isFault: false });
      callsLeft -= 1;
      counted.push({ callClass, reached: sam.calls().length });
    },
    now: () => NOW,
    logger: silentLogger,
    onClose: (_name, close) => void atEnd(close),
  });
  return (question?: TestQuestion) => askAbout(provider!, question);
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
  sam.register({ uei: UEI });
  await start(fresh)();
  expect(classes()).toEqual(["direct", "direct", "direct"]);
  expect(sam.calls()).toHaveLength(3);
});

test("each repetition of a refused query in halves counts", async () => {
  for (const index of [1, 2, 3]) sam.register({ uei: ueiOf(index) });
  sam.choke(ueiOf(3));
  const ask = start(fresh);
  await Promise.all([1, 2, 3].map((index) => ask({ uei: ueiOf(index), run: run(2) })));
  // All three; the first two and the last one.
  expect(classes()).toEqual(["runs", "runs", "runs"]);
  expect(sam.calls()).toHaveLength(3);
});

test("questions of different classes never share a call, so that no class spends or waits for another's quota", async () => {
  sam.register({ uei: UEI });
  sam.misbehave({ kind: "slow", afterMs: 50 });
  refused.add("first");
  const ask = start(fresh);
  const [direct, first, later] = await Promise.allSettled(
    [undefined, run(1), run(2)].map((each) => ask({ run: each })),
  );
  expect(direct).toMatchObject({ status: "fulfilled", value: { outcome: "pass" } });
  expect(first).toMatchObject({ status: "rejected", reason: { reason: "quota_exhausted", isFault: false } });
  expect(later).toMatchObject({ status: "fulfilled", value: { outcome: "pass" } });
  expect(classes().toSorted()).toEqual(["direct", "runs"]);
});

test("a class without calls left makes no call, and gets an error that is nobody's fault", async () => {
  refused.add("direct");
  await expect(start()()).rejects.toMatchObject({ reason: "quota_exhausted", isFault: false, shutUntil: undefined });
  expect(sam.calls()).toEqual([]);
});

test("a listing of more pages than its class has calls left spends these at most, and a later question makes no call", async () => {
  for (let row = 0; row < 24; row++) sam.register({ uei: UEI, eftIndicator: String(row) });
  const ask = start();
  callsLeft = 2;
  await expect(ask()).rejects.toMatchObject({ reason: "quota_exhausted", isFault: false });
  await expect(ask()).rejects.toMatchObject({ reason: "quota_exhausted" });
  expect(classes()).toEqual(["direct", "direct"]);
  expect(sam.calls().length).toBeLessThanOrEqual(2);
});

describe("a vendor costs", () => {
  const old = file("2026-11-19");
  const row = { program: "Reciprocal", terminationDate: "indefinite" };
  const registered = () => sam.register({ uei: UEI });
  const idOnly = () => sam.register({ uei: UEI, samRegistered: "No" });
  const flagged = () => {
    sam.register({ uei: UEI, exclusionFlag: "Y" });
    for (let index = 0; index < 12; index++) sam.exclude({ uei: UEI, name: `Exclusion ${index}` });
  };
  const unknown = () => undefined;

  test.each<[calls: number, vendor: string, file: string, make: () => void, files: Files | undefined, verdict: string]>(
    [
      [1, "registered", "yesterday's file", registered, fresh, "pass"],
      [
        1,
        "registered and flagged",
        "yesterday's file that names it",
        flagged,
        file("2026-11-20", row),
        "fail excluded",
      ],
      [2, "registered and flagged", "a file that does not name it", flagged, fresh, "fail excluded"],
      [2, "registered and flagged", "no file", flagged, undefined, "fail excluded"],
      [2, "registered", "no file", registered, undefined, "pass"],
      [2, "registered", "an old file", registered, old, "pass"],
      [2, "registered, and excluded by the file", "today's file", registered, file("2026-11-21", row), "pass"],
      [2, "with an id only", "yesterday's file", idOnly, fresh, "fail not_registered"],
      [2, "with an id only, and excluded", "yesterday's file", idOnly, file("2026-11-20", row), "fail excluded"],
      [2, "unknown", "yesterday's file", unknown, fresh, "fail not_found"],
      [2, "unknown, and excluded", "today's file", unknown, file("2026-11-21", row), "fail excluded"],
      [3, "with an id only", "no file", idOnly, undefined, "fail not_registered"],
      [3, "unknown", "an old file", unknown, old, "fail not_found"],
    ],
  )("%i where it is %s, with %s", async (calls, _vendor, _file, make, files, verdict) => {
    make();
    const { outcome, reason } = await start(files)();
    expect(`${outcome} ${reason}`.trim()).toBe(verdict);
    expect(sam.calls()).toHaveLength(calls);
    expect(counted).toHaveLength(calls);
  });

  test("two where an id is found by a CAGE, since the file is then read by its UEI", async () => {
    sam.register({ uei: UEI, cage: "4AB12", samRegistered: "No" });
    const { reason } = await start(fresh)({ uei: "", cage: "4AB12" });
    expect(reason).toBe("not_registered");
    expect(sam.calls()).toHaveLength(2);
  });

  test.each<[string, Files, boolean]>([
    ["has one that the file lacks", fresh, true],
    ["lacks one that the file has", file("2026-11-20", row), false],
  ])("three where it is unknown, and a newer stored answer %s", async (_name, files, flaggedBefore) => {
    sam.exclude({ uei: UEI });
    const exclusions = exclusionsPart(new Date("2026-11-21T08:00:00Z"), { flagged: flaggedBefore });
    const { reason } = await start(files)({ stored: { exclusions } });
    expect(reason).toBe("excluded");
    expect(sam.calls()).toHaveLength(3);
  });
});
