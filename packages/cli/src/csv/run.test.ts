import { expect, test } from "@jest/globals";
import { ApiError, ConnectionError, type Verification, type VerifyRequest } from "@vendor-verification/client";
import type { Outcome } from "./journal.ts";
import { createQuota } from "./quota.ts";
import { verifyAll } from "./run.ts";

const question = { checks: ["sam_registration" as const], mode: "realtime" as const };
const requestsFor = (...keys: string[]) =>
  new Map(keys.map((key): [string, VerifyRequest] => [key, { entity_id: key, ...question }]));

/** A run whose calls the test answers. */
function runUnderTest(options: { requests: Map<string, VerifyRequest>; parallel: number; done?: [string, Outcome][] }) {
  const outcomes = new Map<string, Outcome>(options.done);
  const calls = new Map<string, PromiseWithResolvers<Verification>>();
  const aborting = new AbortController();
  const quota = createQuota({ now: () => 0 });
  quota.note(new Headers());
  let started = Promise.withResolvers<void>();
  const finished = verifyAll({
    client: {
      verify: (_request, { idempotencyKey, signal } = {}) => {
        const call = Promise.withResolvers<Verification>();
        signal?.addEventListener("abort", () => call.reject(signal.reason));
        calls.set(idempotencyKey!, call);
        started.resolve();
        started = Promise.withResolvers();
        return call.promise;
      },
    },
    journal: { outcomeOf: (key) => outcomes.get(key), record: (key, outcome) => void outcomes.set(key, outcome) },
    quota,
    requests: options.requests,
    parallel: options.parallel,
    signal: aborting.signal,
    onOutcome: () => undefined,
  });
  finished.catch(() => undefined);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { finished, calls, outcomes, aborting, settle, next: () => started.promise };
}

const passed = (id: string) => ({ id }) as Verification;
const apiError = (status: number, error: string, more: object = {}) =>
  new ApiError({
    status,
    headers: new Headers(),
    body: { error, message: `${error}.`, request_id: "req_1", ...more },
    retryAfterSeconds: undefined,
    idempotencyKey: undefined,
  });

test("no more calls run at the same time than allowed, and finished rows are not called again", async () => {
  const done: [string, Outcome][] = [["b", { verification: passed("ver_b") }]];
  const run = runUnderTest({ requests: requestsFor("a", "b", "c", "d"), parallel: 2, done });
  await run.settle();
  expect([...run.calls.keys()]).toEqual(["a", "c"]);
  const fourth = run.next();
  run.calls.get("c")!.resolve(passed("ver_c"));
  await fourth;
  expect([...run.calls.keys()]).toEqual(["a", "c", "d"]);
  run.calls.get("a")!.resolve(passed("ver_a"));
  run.calls.get("d")!.resolve(passed("ver_d"));
  await run.finished;
  expect([...run.outcomes.keys()].toSorted()).toEqual(["a", "b", "c", "d"]);
});

const details = [
  { path: "a", message: "is wrong" },
  { path: "b", message: "too" },
];
test.each([
  [apiError(404, "entity_not_found"), "entity_not_found."],
  [apiError(409, "ambiguous_match"), "ambiguous_match."],
  [apiError(500, "internal_error"), "internal_error."],
  [apiError(400, "invalid_request", { details }), "a is wrong; b too"],
])("%s is the outcome of its vendor, and the others go on", async (error, message) => {
  const run = runUnderTest({ requests: requestsFor("a", "b"), parallel: 1 });
  await run.settle();
  const next = run.next();
  run.calls.get("a")!.reject(error);
  await next;
  run.calls.get("b")!.resolve(passed("ver_b"));
  await run.finished;
  expect(run.outcomes.get("a")).toEqual({ refusal: { code: error.code, message } });
  expect(run.outcomes.get("b")).toEqual({ verification: passed("ver_b") });
});

test.each([
  apiError(401, "unauthorized"),
  apiError(403, "limit_exceeded"),
  apiError(429, "rate_limited"),
  apiError(503, "service_unavailable"),
  new ConnectionError("No answer."),
])("%s starts no further call, and what is in flight is still recorded", async (error) => {
  const run = runUnderTest({ requests: requestsFor("a", "b", "c"), parallel: 2 });
  await run.settle();
  run.calls.get("a")!.reject(error);
  await run.settle();
  run.calls.get("b")!.resolve(passed("ver_b"));
  await expect(run.finished).rejects.toBe(error);
  expect([...run.calls.keys()]).toEqual(["a", "b"]);
  expect([...run.outcomes.keys()]).toEqual(["b"]);
});

test("aborting ends the calls in flight and records nothing of them", async () => {
  const run = runUnderTest({ requests: requestsFor("a", "b"), parallel: 1 });
  await run.settle();
  run.aborting.abort();
  await expect(run.finished).rejects.toThrow("aborted");
  expect([[...run.calls.keys()], run.outcomes.size]).toEqual([["a"], 0]);
});
