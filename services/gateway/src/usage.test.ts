import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { silentLogger as logger, untilEnd } from "@vvs/testing";
import type { ApiKey } from "./http/api-key.ts";
import { startUsageReports } from "./usage.ts";

type Sent = Parameters<Parameters<typeof startUsageReports>[0]["account"]["reportUsage"]>[0];

const keyOf = (id: string) => ({ id, tenant: { organizationId: "org_1", environment: "live" } }) as ApiKey;

function counting() {
  const sent: Sent[] = [];
  const at = new Date("2026-03-01T12:59:59.000Z");
  const state = { at };
  const account = {
    async reportUsage(request: Sent) {
      sent.push(request);
      return {} as never;
    },
  };
  const usage = untilEnd(startUsageReports({ account, logger, now: () => state.at }));
  return { usage, sent, state };
}

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

test("the counts of very many keys are reported a limited number at a time, so that account can store each report", async () => {
  const { usage, sent } = counting();
  for (let index = 0; index < 4_500; index++) usage.count(keyOf(`key_${index}`), { status: 200, durationMs: 1 });
  await usage.close();
  expect(sent.map(({ counts }) => counts!.length)).toEqual([2_000, 2_000, 500]);
  expect(new Set(sent.flatMap(({ counts }) => counts!.map(({ apiKeyId }) => apiKeyId))).size).toBe(4_500);
});
