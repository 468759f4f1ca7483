import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { createLogger } from "@vvs/logging";
import type { ApiKey } from "./http/api-key.ts";
import { until } from "./testing/gateway.ts";
import { startUsageReports, type UsageReports } from "./usage.ts";

type Sent = Parameters<Parameters<typeof startUsageReports>[0]["account"]["reportUsage"]>[0];

const logger = createLogger({ service: "gateway", level: "silent" });
const keyOf = (id: string) => ({ id, tenant: { organizationId: "org_1", environment: "live" } }) as ApiKey;
let usage: UsageReports | undefined;
afterEach(() => usage?.close());

function counting() {
  const sent: Sent[] = [];
  const at = new Date("2026-03-01T12:59:59.000Z");
  const state: { at: Date; failure?: ServiceError | undefined } = { at };
  const account = {
    async reportUsage(request: Sent) {
      sent.push(request);
      if (state.failure) throw state.failure;
      return {} as never;
    },
  };
  usage = startUsageReports({ account, logger, now: () => state.at, reportEveryMs: 5 });
  const sentReports = (atLeast: number) => until(() => sent.length >= atLeast);
  return { usage, sent, state, sentReports };
}

const requestsIn = (reports: readonly Sent[]) =>
  reports.flatMap(({ counts }) => counts!.map((count) => `${count.apiKeyId} ${count.status} ${count.requests}`));

test("requests are counted by key, hour and status, with their durations and the time of the last one", async () => {
  const { usage, state, sent } = counting();
  usage.count(keyOf("key_1"), { status: 200, durationMs: 3 });
  usage.count(keyOf("key_1"), { status: 200, durationMs: 3.5 });
  usage.count(keyOf("key_1"), { status: 404, durationMs: 1 });
  usage.count(keyOf("key_2"), { status: 200, durationMs: 1 });
  state.at = new Date("2026-03-01T13:00:00.000Z");
  usage.count(keyOf("key_1"), { status: 200, durationMs: 1 });
  await usage.close();
  const [first, ...others] = sent.flatMap(({ counts }) => counts!);
  expect([first!.apiKeyId, first!.status, first!.requests]).toEqual(["key_1", 200, 2n]);
  expect(timestampDate(first!.hour as never)).toEqual(new Date("2026-03-01T12:00:00.000Z"));
  expect(first!.durations).toEqual(Array.from({ length: 16 }, (_, place) => (place === 2 ? 2n : 0n)));
  expect(others.map(({ apiKeyId, status, requests }) => [apiKeyId, status, requests])).toEqual([
    ["key_1", 404, 1n],
    ["key_2", 200, 1n],
    ["key_1", 200, 1n],
  ]);
});

test("a report that may not have arrived is sent again unchanged, with the same id, before any other", async () => {
  const { usage, state, sent, sentReports } = counting();
  state.failure = new ServiceError("service_unavailable");
  usage.count(keyOf("key_1"), { status: 200, durationMs: 1 });
  await sentReports(1);
  usage.count(keyOf("key_1"), { status: 200, durationMs: 1 });
  await sentReports(3);
  state.failure = undefined;
  await usage.close();
  const ids = sent.map(({ reportId }) => reportId);
  const again = ids.slice(0, -1);
  expect(new Set(again).size).toBe(1);
  expect(ids.at(-1)).not.toBe(again[0]);
  const one = "key_1 200 1";
  expect(requestsIn(sent)).toEqual(Array(sent.length).fill(one));
});

test("a report that account refuses is dropped, and later requests are reported", async () => {
  const { usage, state, sent, sentReports } = counting();
  state.failure = new ServiceError("invalid_request");
  usage.count(keyOf("key_1"), { status: 200, durationMs: 1 });
  await sentReports(1);
  state.failure = undefined;
  usage.count(keyOf("key_2"), { status: 200, durationMs: 1 });
  await usage.close();
  expect(requestsIn(sent)).toEqual(["key_1 200 1", "key_2 200 1"]);
});

test("the counts of very many keys are reported a limited number at a time, so that account can store each report", async () => {
  const { usage, sent } = counting();
  for (let index = 0; index < 4_500; index++) usage.count(keyOf(`key_${index}`), { status: 200, durationMs: 1 });
  await usage.close();
  expect(sent.map(({ counts }) => counts!.length)).toEqual([2_000, 2_000, 500]);
  expect(new Set(requestsIn(sent)).size).toBe(4_500);
});

test("nothing is reported without requests", async () => {
  const { usage, sent } = counting();
  await usage.close();
  expect(sent).toEqual([]);
});
