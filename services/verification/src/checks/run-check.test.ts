import { describe, expect, jest, test } from "@jest/globals";
import { type Answer, type Provider, ProviderError } from "../providers/provider.ts";
import { passing, questionOf } from "../testing/calls.ts";
import { runCheck } from "./run-check.ts";

const now = () => new Date("2026-11-21T09:30:00Z");

const answering =
  (outcome: "pass" | "fail", reason: Answer["reason"] = ""): Provider["ask"] =>
  async () =>
    passing({ outcome, reason });
const throwing = (error: Error) => () => Promise.reject(error);
const silent: Provider["ask"] = () => new Promise(() => undefined);

function run(asks: Provider["ask"][], limits: { attemptMs?: number; signal?: AbortSignal } = {}) {
  const providers = asks.map((ask, index) => ({ name: `p${index + 1}`, check: "sam_registration" as const, ask }));
  return runCheck({
    providers,
    question: questionOf(),
    signal: limits.signal ?? new AbortController().signal,
    attemptMs: limits.attemptMs ?? 60_000,
    now,
    observe: (_provider, _callClass, attempt) => attempt(),
  });
}

describe("providers are asked in order", () => {
  const http = new ProviderError("http_503");
  const stale = new ProviderError("stale_source", { isFault: false });
  test.each<[string, Provider["ask"][], string, string[]]>([
    ["a pass is final", [answering("pass"), answering("fail")], "pass by p1", ["p1 pass"]],
    ["a fail is final", [answering("fail", "expired"), answering("pass")], "fail by p1", ["p1 fail expired"]],
    [
      "after a throw the next is asked",
      [throwing(http), answering("pass")],
      "pass by p2",
      ["p1 throw http_503", "p2 pass"],
    ],
    [
      "after a bug in an adapter the next is asked",
      [throwing(new TypeError("x")), answering("fail", "mismatch")],
      "fail by p2",
      ["p1 throw internal_error", "p2 fail mismatch"],
    ],
    ["all threw", [throwing(http), throwing(http)], "providers_failed", ["p1 throw http_503", "p2 throw http_503"]],
    [
      "stale data is reported",
      [throwing(stale), throwing(http)],
      "stale_source",
      ["p1 throw stale_source", "p2 throw http_503"],
    ],
    ["there is none", [], "providers_failed", []],
  ])("%s", async (_name, asks, expected, attempts) => {
    const result = await run(asks);
    expect(result.kind === "answered" ? `${result.answer.outcome} by ${result.origin}` : result.reason).toBe(expected);
    const shown = result.attempts.map(({ provider, outcome, reason }) => `${provider} ${outcome} ${reason}`.trim());
    expect(shown).toEqual(attempts);
  });

  test("a silent provider times out and the next is asked, even where it ignores its signal", async () => {
    const result = await run([silent, answering("pass")], { attemptMs: 5 });
    expect(result.attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["throw", "timeout"],
      ["pass", ""],
    ]);
  });

  test("no provider is asked once the check's time is over", async () => {
    const second = jest.fn(answering("pass"));
    const over = new AbortController();
    const running = run([silent, second], { signal: over.signal });
    over.abort();
    expect(await running).toMatchObject({ kind: "error", reason: "providers_failed" });
    expect(second).not.toHaveBeenCalled();
  });
});
