import { expect, test } from "@jest/globals";
import { untilEnd } from "@vvs/testing";
import { GRACE_MS } from "./auth/key-check.ts";
import { watchHealth } from "./health.ts";
import { until } from "./testing/gateway.ts";

/** Watches services and a clock that the test controls. */
function watched(serving = [true, true, true]) {
  const state = { polls: 0, now: 0, replicaAgeMs: 0 };
  const clients = serving.map((_, index) => ({
    isServing: async () => {
      state.polls += 1;
      return serving[index]!;
    },
  }));
  const replica = { ageMs: () => state.replicaAgeMs };
  const health = untilEnd(watchHealth({ replica, clients, clock: () => state.now, askEveryMs: 10 }));
  /** Waits until each service was polled again. */
  const round = () => {
    const before = state.polls;
    return until(() => state.polls >= before + 2 * clients.length);
  };
  return { health, serving, state, round };
}

test("is unhealthy until each service has answered that it can serve", async () => {
  const { health, serving, round } = watched([true, false, true]);
  expect(health.healthy()).toBe(false);
  await round();
  expect(health.healthy()).toBe(false);
  serving[1] = true;
  await until(() => health.healthy());
});

test("a service that has not been able to serve for 4 s makes the gateway unhealthy until it can again", async () => {
  const { health, serving, state, round } = watched();
  await round();
  expect(health.healthy()).toBe(true);
  serving[2] = false;
  await round();
  state.now = 4_000;
  expect(health.healthy()).toBe(true);
  state.now = 4_001;
  await round();
  expect(health.healthy()).toBe(false);
  serving[2] = true;
  await until(() => health.healthy());
});

test("one unhealthy replica of several changes nothing", async () => {
  const { health, serving, state, round } = watched();
  await round();
  for (let second = 1; second <= 6; second++) {
    state.now = second * 1_000;
    serving[0] = second % 2 === 0;
    await round();
    expect(health.healthy()).toBe(true);
  }
});

test("without account it stays healthy as long as keys are accepted", async () => {
  const { health, state, round } = watched();
  await round();
  state.replicaAgeMs = GRACE_MS;
  expect(health.healthy()).toBe(true);
  state.replicaAgeMs = GRACE_MS + 1;
  expect(health.healthy()).toBe(false);
});
