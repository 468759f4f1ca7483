import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { HealthInterval } from "@vvs/proto/verification/v1/provider_health";
import { silentLogger as logger, testMongo } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { type Provider, ProviderError } from "../providers/provider.ts";
import { putVendor, testProvider, verify } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";
import { isUnanswered, startAttemptCounts } from "./attempt-counts.ts";
import { createReadProviderHistory, figuresOf, type HistoryRange } from "./provider-history.ts";

const { newDb } = await testMongo();
const newDatabases = () => ({ live: newDb(), sandbox: newDb() });

const provider = (name: string): Provider => ({
  name,
  check: "sam_registration",
  ask: () => Promise.reject(new ProviderError("http_503")),
});
const providers = { live: ["second", "first"].map(provider), sandbox: [] };
const at = (time: string) => new Date(`2026-03-${time}:00.000Z`);
const march = { from: at("01T00:00"), to: at("03T00:00"), interval: "day" } as const;

test("the counts of all replicas are added up by hour or day, in the order that providers are asked", async () => {
  const databases = newDatabases();
  let time = at("01T10:59");
  const options = { db: databases.live, now: () => time, logger };
  const [one, other] = [startAttemptCounts(options), startAttemptCounts(options)];
  for (const replica of [one, other]) replica.count(provider("first"), 3);
  one.count(provider("former"), undefined);
  time = at("01T11:00");
  one.count(provider("first"), undefined);
  other.count(provider("first"), undefined);
  time = at("02T00:00");
  other.count(provider("second"), 100);
  await Promise.all([one.close(), other.close()]);

  const read = createReadProviderHistory({ databases, providers });
  const figuresIn = async (range: HistoryRange) =>
    (await read("live", range)).map(({ provider, overall, periods }) => [
      `${provider} ${overall.answeredPercent} % within ${overall.halfWithinMs} ms`,
      ...periods.map(({ at, figures }) => `${timestampDate(at).toISOString().slice(8, 13)} ${figures.answeredPercent}`),
    ]);
  expect(await figuresIn(march)).toEqual([
    ["second 100 % within 128 ms", "02T00 100"],
    ["first 50 % within 4 ms", "01T00 50"],
    ["former 0 % within 0 ms", "01T00 0"],
  ]);
  expect(await figuresIn({ ...march, to: at("02T00:00"), interval: "hour" })).toEqual([
    ["first 50 % within 4 ms", "01T10 100", "01T11 0"],
    ["former 0 % within 0 ms", "01T10 0"],
  ]);
  expect(await read("sandbox", march)).toEqual([]);
});

const none = Array.from({ length: 16 }, () => 0);
const took = (classes: Readonly<Record<number, number>>) => none.map((zero, place) => classes[place] ?? zero);
test.each([
  ["all answered", { answered: 3, unanswered: 0, durations: took({ 0: 3 }) }, [100, 1, 1]],
  ["none answered", { answered: 0, unanswered: 3, durations: none }, [0, 0, 0]],
  ["one failure among thousands", { answered: 9_999, unanswered: 1, durations: took({ 5: 9_999 }) }, [99, 32, 32]],
  ["one answer among thousands", { answered: 1, unanswered: 9_999, durations: took({ 15: 1 }) }, [1, 32_768, 32_768]],
  ["a slow tail", { answered: 100, unanswered: 50, durations: took({ 3: 90, 10: 10 }) }, [67, 8, 1_024]],
])("figures of %s show shares and classes, no counts", (_name, sums, [answeredPercent, halfWithinMs, mostWithinMs]) => {
  expect(figuresOf(sums)).toEqual({ answeredPercent, halfWithinMs, mostWithinMs });
});

describe("these count against a provider", () => {
  const fault = new ProviderError("http_503");
  test.each<[string, unknown, boolean]>([
    ["a fault", fault, true],
    ["an unexpected error", new TypeError("x"), true],
    ["data too old", new ProviderError("stale_source", { isFault: false }), true],
    ["a circuit that is open", new ProviderError("circuit_open", { isFault: false }), true],
    ["a quota that is used up", new ProviderError("quota_exhausted", { isFault: false }), true],
    ["not a name that can't be sent", new ProviderError("unusable_name", { isFault: false }), false],
    ["not an outage that a sandbox vendor simulates", new ProviderError("http_503", { isFault: false }), false],
  ])("%s", (_name, error, expected) => {
    expect(isUnanswered(error)).toBe(expected);
  });
});

test.each([
  ["reversed", { ...march, to: at("01T00:00"), from: at("02T00:00") }],
  ["empty", { ...march, to: march.from }],
  ["longer than 7 days by hour", { ...march, to: at("08T00:01"), interval: "hour" }],
  ["longer than 92 days by day", { ...march, from: at("01T00:00"), to: new Date("2026-06-02T00:00:00Z") }],
] as const)("a range that is %s is refused", async (_name, range) => {
  const read = createReadProviderHistory({ databases: newDatabases(), providers });
  await expect(read("live", range)).rejects.toMatchObject({ code: "invalid_request" });
});

test("counting goes on and ends while the database is unavailable", async () => {
  const away = new MongoClient("mongodb://127.0.0.1:1", { serverSelectionTimeoutMS: 50 });
  const counts = startAttemptCounts({ db: away.db("none"), now: () => at("01T10:00"), logger });
  counts.count(provider("first"), undefined);
  await counts.close();
  await away.close();
});

test("the history is returned only to the dashboard, also after a restart", async () => {
  const live: Provider[] = [provider("failing"), testProvider("answering")];
  const start = (more: { prefix?: string } = {}) => startTestService({ live, now: () => at("01T10:00"), ...more });
  const owner = await start();
  const before = await start({ prefix: owner.prefix });
  await verify(before, putVendor(before));
  await before.stop();

  const after = await start({ prefix: owner.prefix });
  const [from, to] = [timestampFromDate(march.from), timestampFromDate(march.to)];
  const request = { environment: Environment.LIVE, from, to, interval: HealthInterval.DAY };
  await expect(after.client.getProviderHealth(request)).rejects.toMatchObject({ code: "forbidden" });
  const dashboard = after.clientFor("dashboard");
  const health = await dashboard.getProviderHealth(request);
  expect(
    health.providers.map(({ provider, checkType, overall }) => [provider, checkType, overall?.answeredPercent]),
  ).toEqual([
    ["failing", CheckType.SAM_REGISTRATION, 0],
    ["answering", CheckType.SAM_REGISTRATION, 100],
  ]);
  for (const { periods } of health.providers) expect(periods.map((period) => period.at)).toEqual([from]);
  const sandbox = await dashboard.getProviderHealth({ ...request, environment: Environment.SANDBOX });
  expect(sandbox.providers).toEqual([]);
  for (const incomplete of [{ from: undefined }, { interval: HealthInterval.UNSPECIFIED }]) {
    await expect(dashboard.getProviderHealth({ ...request, ...incomplete })).rejects.toMatchObject({
      code: "invalid_request",
    });
  }
});
