import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { createLogger } from "@vvs/logging";
import { startReports } from "./reports.ts";
import { until } from "./testing/gateway.ts";

const logger = createLogger({ service: "gateway", level: "silent" });

/** Starts reports of the texts in `waiting`, whose answers the test sets. */
function reporting(everyMs = 5) {
  const waiting: string[] = [];
  const refused: string[] = [];
  const sent: { readonly id: string; readonly report: string }[] = [];
  const state: { failure?: ServiceError | undefined } = {};
  const { close } = startReports<string>({
    take: () => waiting.shift(),
    async send(id, report) {
      sent.push({ id, report });
      if (state.failure) throw state.failure;
    },
    onRefused: (report) => void refused.push(report),
    isFull: () => false,
    everyMs,
    ...{ failure: "fails", recovery: "succeeds", refused: "refused", lost: "lost", logger },
  });
  return { waiting, refused, sent, state, close };
}

test("one that may not have arrived is sent again unchanged, with the same id, before any other", async () => {
  const { waiting, sent, state, close } = reporting();
  state.failure = new ServiceError("service_unavailable");
  waiting.push("first");
  await until(() => sent.length >= 1);
  waiting.push("second");
  await until(() => sent.length >= 3);
  state.failure = undefined;
  await close();
  const again = sent.slice(0, -1);
  expect(again).toEqual(Array(again.length).fill(sent[0]));
  expect(sent.at(-1)).toEqual({ id: expect.not.stringContaining(sent[0]!.id), report: "second" });
});

test("one that account refuses is dropped, and later ones are sent", async () => {
  const { waiting, refused, sent, state, close } = reporting();
  state.failure = new ServiceError("invalid_request");
  waiting.push("bad");
  await until(() => refused.length === 1);
  state.failure = undefined;
  waiting.push("good");
  await close();
  expect([sent.map(({ report }) => report), refused]).toEqual([["bad", "good"], ["bad"]]);
});

test("what waits is sent at the end; if account is unavailable then, the last ones are lost", async () => {
  for (const [failure, expected] of [
    [undefined, ["first", "second"]],
    [new ServiceError("service_unavailable"), ["first"]],
  ] as const) {
    const { waiting, sent, state, close } = reporting(60_000);
    await new Promise((resolve) => setImmediate(resolve));
    state.failure = failure;
    waiting.push("first", "second");
    await close();
    expect(sent.map(({ report }) => report)).toEqual(expected);
  }
});
