import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { eventually } from "@vvs/testing";
import { createAdmission, createTurns } from "./admission.ts";
import { createPresence } from "./presence.ts";

const limits = {
  running: 2,
  runningPerOrganization: 2,
  runningBesideOthers: 2,
  waiting: 6,
  waitingPerOrganization: 4,
  longestWaitMs: 2_000,
};
const of = (organizationId: string, environment = "live") => ({
  organizationId,
  environment,
});
const staying = new AbortController().signal;

/** Calls that run until they are ended, in the order in which they began. */
function playedCalls(its: Parameters<typeof createAdmission>[1] = limits, presence = createPresence(() => 0)) {
  const admit = createAdmission("look-ups", its, presence);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    endFirst: async () => {
      await turn();
      ends.shift()!();
      await turn();
    },
    start(name: string, owner: ReturnType<typeof of>, leaving = staying) {
      const call = admit(owner, leaving, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
      // Some are refused after the end of their test.
      call.catch(() => undefined);
      return call;
    },
  };
}
const refused = (code: string) => expect.objectContaining({ code, retryAfterSeconds: 1 });

describe("a burst of one organization", () => {
  test("runs a bounded number of calls, and what exceeds its share is refused at once with 429", async () => {
    const calls = playedCalls();
    const burst = Array.from({ length: 10 }, (_, index) => calls.start(`a${index}`, of("org_a")));
    const late = await Promise.allSettled(burst.slice(6));
    expect(late).toEqual(Array(4).fill({ status: "rejected", reason: refused("rate_limited") }));
    expect(calls.begun).toEqual(["a0", "a1"]);
    for (let ended = 0; ended < 6; ended++) await calls.endFirst();
    await Promise.all(burst.slice(0, 6));
    expect(calls.begun).toHaveLength(6);
  });

  test("delays another organization's call only until the next place is free", async () => {
    const calls = playedCalls();
    const burst = Array.from({ length: 6 }, (_, index) => calls.start(`a${index}`, of("org_a")));
    const other = calls.start("b", of("org_b"));
    await calls.endFirst();
    await calls.endFirst();
    expect(calls.begun).toEqual(["a0", "a1", "a2", "b"]);
    for (let ended = 0; ended < 5; ended++) await calls.endFirst();
    await Promise.all([...burst, other]);
  });

  test("takes only its share of the places, so that another organization's call begins at once", async () => {
    const calls = playedCalls({ ...limits, running: 4 });
    const burst = Array.from({ length: 6 }, (_, index) => calls.start(`a${index}`, of("org_a")));
    const others = [calls.start("b0", of("org_b")), calls.start("b1", of("org_b")), calls.start("b2", of("org_b"))];
    await turn();
    expect(calls.begun).toEqual(["a0", "a1", "b0", "b1"]);
    await calls.endFirst();
    await calls.endFirst();
    await calls.endFirst();
    expect(calls.begun).toEqual(["a0", "a1", "b0", "b1", "a2", "a3", "b2"]);
    for (let ended = 0; ended < 6; ended++) await calls.endFirst();
    await Promise.all([...burst, ...others]);
  });

  test("of the sandbox takes no place of live", async () => {
    const calls = playedCalls();
    for (let index = 0; index < 6; index++) void calls.start(`s${index}`, of("org_a", "sandbox"));
    void calls.start("live", of("org_a"));
    await turn();
    expect(calls.begun).toEqual(["s0", "s1", "live"]);
  });
});

test("bursts of many organizations are refused at once with 503 when all places to wait are taken", async () => {
  const calls = playedCalls();
  for (let index = 0; index < 8; index++) void calls.start(`${index}`, of(`org_${index}`));
  await expect(calls.start("late", of("org_late"))).rejects.toThrow(refused("service_unavailable"));
});

test("a waiting call whose caller leaves never runs, and frees its place in the line", async () => {
  const calls = playedCalls();
  void calls.start("a0", of("org_a"));
  void calls.start("a1", of("org_a"));
  const leaving = new AbortController();
  const gone = Array.from({ length: 4 }, () => calls.start("gone", of("org_a"), leaving.signal));
  leaving.abort();
  for (const result of await Promise.allSettled(gone)) expect(result.status).toBe("rejected");
  void calls.start("a2", of("org_a"));
  await calls.endFirst();
  expect(calls.begun).toEqual(["a0", "a1", "a2"]);
});

test("a call that waits too long is refused: because of its own organization's calls, or of all", async () => {
  const calls = playedCalls({ ...limits, runningPerOrganization: 1, longestWaitMs: 1 });
  void calls.start("a0", of("org_a"));
  await expect(calls.start("a1", of("org_a"))).rejects.toThrow(refused("rate_limited"));
  void calls.start("b0", of("org_b"));
  await expect(calls.start("c0", of("org_c"))).rejects.toThrow(refused("service_unavailable"));
  expect(calls.begun).toEqual(["a0", "b0"]);
});

test("calls of one kind leave room while another organization makes calls of another kind", async () => {
  const presence = createPresence(() => 0);
  const lists = playedCalls({ ...limits, runningBesideOthers: 1 }, presence);
  const reads = playedCalls(limits, presence);
  void lists.start("a0", of("org_a"));
  void lists.start("a1", of("org_a"));
  void lists.start("a2", of("org_a"));
  await turn();
  expect(lists.begun).toEqual(["a0", "a1"]);
  void reads.start("b", of("org_b"));
  await lists.endFirst();
  expect(lists.begun).toEqual(["a0", "a1"]);
  await lists.endFirst();
  expect(lists.begun).toEqual(["a0", "a1", "a2"]);
});

describe("turns of the event loop", () => {
  const turnLimits = { waiting: 10, waitingPerOrganization: 3, longestWaitMs: 2_000 };

  test("one call of each organization begins in each turn, and what is too many is refused at once", async () => {
    const takeTurn = createTurns(
      "requests",
      turnLimits,
      createPresence(() => 0),
    );
    const begun: string[] = [];
    const start = (name: string) =>
      takeTurn(of(name[0]!), staying).then(
        () => begun.push(name),
        ({ code }) => begun.push(`${name} ${code}`),
      );
    const calls = ["a1", "a2", "a3", "a4", "a5", "b1"].map(start);
    const turns: string[][] = [];
    while (turns.flat().length < calls.length) {
      await turn();
      turns.push(begun.splice(0));
    }
    expect(turns.map((each) => each.toSorted())).toEqual([["a1", "a5 rate_limited", "b1"], ["a2"], ["a3"], ["a4"]]);
  });

  test("nothing is held while a call that has begun waits for others", async () => {
    const takeTurn = createTurns("requests", turnLimits);
    for (let call = 0; call < 20; call++) {
      await takeTurn(of("org_a"), staying);
      await turn();
    }
  });
});

test("a call that runs long frees its place once, as it waits for others then", async () => {
  const calls = playedCalls({ ...limits, runningPerOrganization: 1, longestHeldMs: 1 });
  void calls.start("a0", of("org_a"));
  void calls.start("a1", of("org_a"));
  await eventually(() => calls.begun.length === 2);
  await calls.endFirst();
  void calls.start("a2", of("org_a"));
  void calls.start("a3", of("org_a"));
  await eventually(() => calls.begun.length === 4);
});

test("a call that was refused as one too many keeps its place for a moment, as the next one would be refused, too", async () => {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "performance", "nextTick", "queueMicrotask"] });
  const admit = createAdmission("look-ups", { ...limits, runningPerOrganization: 1 });
  const begun: string[] = [];
  const start = (name: string, code: "rate_limited" | "entity_not_found") =>
    admit(of("org_a"), staying, async () => {
      begun.push(name);
      throw new ServiceError(code);
    }).catch(() => undefined);
  const calls = [start("a0", "entity_not_found"), start("a1", "rate_limited"), start("a2", "entity_not_found")];
  await turn();
  expect(begun).toEqual(["a0", "a1"]);
  await jest.advanceTimersByTimeAsync(100);
  await Promise.all(calls);
  expect(begun).toEqual(["a0", "a1", "a2"]);
  jest.useRealTimers();
});

test("a place is free again after a call failed", async () => {
  const admit = createAdmission("look-ups", { ...limits, running: 1 });
  const failing = admit(of("org_a"), staying, () => Promise.reject(new Error("broken")));
  await expect(failing).rejects.toThrow("broken");
  expect(await admit(of("org_a"), staying, async () => "ran")).toBe("ran");
});
