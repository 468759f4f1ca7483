import { describe, expect, test } from "@jest/globals";
import { type Arrival, createFairQueue, type Flow, type Ticket } from "./fair-queue.ts";
import { randomOf } from "./testing/random.ts";

const flow = (id: string, weight = 4, isSandbox = false): Flow => ({ id, weight, isSandbox });

const IS_BEGUN = new Set<PlayedCall["state"]>(["seated", "outside", "returning"]);

interface PlayedCall {
  readonly name: string;
  readonly flow: Flow;
  readonly bound: { key: string; max: number } | undefined;
  state: "waiting" | "seated" | "outside" | "returning" | "gone";
  ticket?: Ticket;
  begunAt?: number;
}

/** A queue on a played clock, with what a caller can observe of it. */
function played(seats: number) {
  let now = 0;
  const queue = createFairQueue({ seats, clock: () => now });
  const calls: PlayedCall[] = [];
  const began: PlayedCall[] = [];
  const begunWith = (key: string) =>
    calls.filter(({ bound, state }) => bound?.key === key && IS_BEGUN.has(state)).length;
  return {
    queue,
    calls,
    began,
    begunWith,
    now: () => now,
    pass(ms: number) {
      now += ms;
    },
    enter(of: Flow, options: Partial<Pick<Arrival, "kind" | "bound" | "laterMs">> = {}): PlayedCall {
      const call: PlayedCall = { name: `${of.id}${calls.length}`, flow: of, bound: options.bound, state: "waiting" };
      calls.push(call);
      call.ticket = queue.enter({
        ...{ flow: of, kind: "call", ...options },
        begin() {
          expect(call.state).toBe("waiting");
          call.state = "seated";
          call.begunAt = now;
          began.push(call);
        },
      });
      return call;
    },
    pause(call: PlayedCall) {
      call.state = "outside";
      call.ticket!.pause();
    },
    resume(call: PlayedCall) {
      call.state = "returning";
      call.ticket!.resume(() => {
        call.state = "seated";
      });
    },
    end(call: PlayedCall) {
      call.state = "gone";
      call.ticket!.end();
    },
    in: (state: PlayedCall["state"]) => calls.filter((call) => call.state === state),
    /** Calls that wait and whose bound has a place: calls outside count there, and nowhere else. */
    eligible: () =>
      calls.filter(({ state, bound }) => state === "waiting" && (!bound || begunWith(bound.key) < bound.max)),
  };
}

describe("in random schedules", () => {
  const FLOWS = [flow("a", 8), flow("b"), flow("c", 2), flow("d", 1), flow("s", 1, true), flow("t", 0.5, true)];

  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
    "no seat is free while a call waits that may begin, none is taken twice, and a caller who left never runs (%d)",
    (seed) => {
      const random = randomOf(seed);
      const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)];
      const seats = 1 + Math.floor(random() * 6);
      const world = played(seats);
      for (let step = 0; step < 600; step++) {
        world.pass(random() * 5);
        const action = random();
        if (action < 0.3) world.enter(pick(FLOWS)!);
        else if (action < 0.45) ((of) => world.enter(of, { bound: { key: of.id, max: 2 } }))(pick(FLOWS)!);
        else if (action < 0.65) ((call) => call && world.end(call))(pick(world.in("seated")));
        else if (action < 0.8) ((call) => call && world.pause(call))(pick(world.in("seated")));
        else if (action < 0.92) ((call) => call && world.resume(call))(pick(world.in("outside")));
        else if (action < 0.96) ((call) => call && world.end(call))(pick(world.in("waiting")));
        else ((call) => call && world.end(call))(pick(world.calls.filter(({ state }) => state !== "gone")));
        const taken = world.in("seated").length;
        const { queue } = world;
        expect({
          isTakenTwice: taken > seats,
          seated: queue.seated(),
          waiting: queue.waiting(),
          idles: taken < seats ? [...world.eligible(), ...world.in("returning")] : [],
          waitingIn: FLOWS.map(({ id }) => queue.waitingIn(id)),
          beyondBound: FLOWS.filter((of) => world.begunWith(of.id) > 2),
        }).toEqual({
          ...{ isTakenTwice: false, seated: taken, waiting: world.in("waiting").length, idles: [], beyondBound: [] },
          waitingIn: FLOWS.map((of) => world.in("waiting").filter((call) => call.flow === of).length),
        });
      }
      expect(world.queue.idleMs()).toBe(0);
    },
  );

  test.each([
    [1, 4, 4, 3, 9],
    [4, 8, 1, 5, 5],
    [8, 4, 2, 20, 1],
    [16, 1, 1, 2, 50],
  ])(
    "of two flows that always wait, each gets its share at any time: %d seats, weights %d and %d, costs up to %d and %d ms",
    (seats, weightA, weightB, costA, costB) => {
      const random = randomOf(seats);
      const world = played(seats);
      const flows = [
        { of: flow("a", weightA), cost: costA, served: 0 },
        { of: flow("b", weightB), cost: costB, served: 0 },
      ];
      const endsAt = new Map<PlayedCall, number>();
      const bound = (seats + 1) * (costA / weightA + costB / weightB);
      const differences: number[] = [];
      for (const { of } of flows) for (let n = 0; n < 4 * seats; n++) world.enter(of, { kind: of.id });
      for (let step = 0; step < 5_000; step++) {
        for (const call of world.in("seated")) {
          if (!endsAt.has(call))
            endsAt.set(call, world.now() + random() * flows.find(({ of }) => of === call.flow)!.cost);
        }
        const [next, at] = [...endsAt].reduce((first, each) => (each[1] < first[1] ? each : first));
        const elapsed = at - world.now();
        for (const each of flows)
          each.served += elapsed * world.in("seated").filter((call) => call.flow === each.of).length;
        world.pass(elapsed);
        endsAt.delete(next);
        world.end(next);
        world.enter(next.flow, { kind: next.flow.id });
        world.calls.splice(0, world.calls.length, ...world.calls.filter(({ state }) => state !== "gone"));
        differences.push(flows[0]!.served / weightA - flows[1]!.served / weightB);
      }
      const widest = Math.max(...differences) - Math.min(...differences);
      expect(widest).toBeLessThanOrEqual(bound);
      for (const { served } of flows) expect(served).toBeGreaterThan(0);
    },
  );
});

test.each([
  ["in live", flow("neighbour", 4)],
  ["in the sandbox", flow("neighbour", 1, true)],
])("a busy flow loses to one that calls rarely, %s, only the time of its calls", (_, rare) => {
  const [seats, costMs, everyMs, endsAt] = [4, 5, 200, 10_000];
  const world = played(seats);
  const [busy, endOf] = [flow("busy"), new Map<PlayedCall, number>()];
  const servedMs = new Map([busy, rare].map((of) => [of, 0]));
  let nextRare = 0;
  for (let n = 0; n < 2 * seats; n++) world.enter(busy);
  while (world.now() < endsAt) {
    if (world.now() >= nextRare) {
      world.enter(rare);
      nextRare += everyMs;
    }
    for (const call of world.in("seated")) if (!endOf.has(call)) endOf.set(call, world.now() + costMs);
    const at = Math.min(nextRare, ...endOf.values());
    const elapsed = at - world.now();
    for (const { flow: of } of world.in("seated")) servedMs.set(of, servedMs.get(of)! + elapsed);
    world.pass(elapsed);
    for (const call of [...endOf].flatMap(([call, end]) => (end <= at ? call : []))) {
      endOf.delete(call);
      world.end(call);
      if (call.flow === busy) world.enter(busy);
    }
    world.calls.splice(0, world.calls.length, ...world.calls.filter(({ state }) => state !== "gone"));
  }
  expect(servedMs.get(rare)!).toBeGreaterThanOrEqual(costMs * (endsAt / everyMs - 1));
  expect(servedMs.get(busy)! + servedMs.get(rare)!).toBe(seats * world.now());
});

test("a light flow waits for the running calls and at most one call of each other flow", () => {
  const world = played(2);
  const heavy = ["a", "b", "c"].map((id) => flow(id));
  for (let round = 0; round < 20; round++) for (const of of heavy) world.enter(of);
  for (let n = 0; n < 9; n++) {
    world.pass(5);
    world.end(world.in("seated")[0]!);
  }
  const before = world.began.length;
  const light = world.enter(flow("light"));
  while (light.state === "waiting") {
    world.pass(5);
    world.end(world.in("seated")[0]!);
  }
  const meanwhile = world.began.slice(before).filter((call) => call !== light);
  expect(meanwhile.length).toBeLessThanOrEqual(heavy.length);
  for (const of of heavy) expect(meanwhile.filter((call) => call.flow === of).length).toBeLessThanOrEqual(1);
});

test("a heavy call is paid for by waiting: what it took replaces the estimate", () => {
  const world = played(1);
  const [a, b] = [flow("a"), flow("b")];
  const first = world.enter(a);
  const next = [a, a, b, b, b].map((of) => world.enter(of));
  world.pass(20);
  world.end(first);
  const order: string[] = [];
  for (let n = 0; n < next.length; n++) {
    const [seated] = world.in("seated");
    order.push(seated!.flow.id);
    world.pass(5);
    world.end(seated!);
  }
  expect(order.join("")).toBe("bbbaa");
});

test("a call's flow pays for the work that it causes later", () => {
  const world = played(1);
  const [a, b] = [flow("a"), flow("b")];
  const causing = { kind: "causing", laterMs: 10 };
  for (let n = 0; n < 40; n++) world.enter(a, { kind: "plain" });
  for (let n = 0; n < 40; n++) world.enter(b, causing);
  for (let n = 0; n < 30; n++) {
    world.pass(5);
    world.end(world.in("seated")[0]!);
  }
  const begun = (of: Flow) => world.began.filter((call) => call.flow === of).length;
  expect(begun(a)).toBeGreaterThanOrEqual(2.5 * begun(b));
});

test("the only flow gets every seat, and an idle flow gains no credit", () => {
  const world = played(4);
  const [a, b] = [flow("a"), flow("b")];
  const alone = Array.from({ length: 8 }, () => world.enter(a));
  expect(world.in("seated")).toHaveLength(4);
  for (const call of alone) {
    world.pass(10);
    world.end(call);
  }
  const later = [a, b, a, b, a, b, a, b].map((of) => world.enter(of));
  world.pass(5);
  for (const call of later.slice(0, 4)) world.end(call);
  expect(later.slice(4).map(({ state }) => state)).toEqual(["seated", "seated", "seated", "seated"]);
});

test("a call that returns from outside goes before all calls that have not begun", () => {
  const world = played(1);
  const [a, b] = [flow("a", 1), flow("b", 8)];
  const slow = world.enter(a);
  world.pause(slow);
  const running = world.enter(b);
  const waiting = world.enter(b);
  world.resume(slow);
  expect([slow.state, waiting.state]).toEqual(["returning", "waiting"]);
  world.end(running);
  expect([slow.state, waiting.state]).toEqual(["seated", "waiting"]);
});

test("a light flow's call that returns from outside goes before all but one of a busy flow's that returned earlier", () => {
  const world = played(1);
  const busy = Array.from({ length: 20 }, () => {
    const call = world.enter(flow("busy"));
    world.pause(call);
    return call;
  });
  const light = world.enter(flow("light"));
  world.pause(light);
  const other = world.enter(flow("other"));
  for (const call of busy) world.resume(call);
  world.resume(light);
  world.end(other);
  let ended = 0;
  for (; light.state !== "seated"; ended++) {
    world.pass(5);
    world.end(busy.find(({ state }) => state === "seated")!);
  }
  expect(ended).toBeLessThanOrEqual(1);
});

test("what a call began and left running takes no seat when the call has ended", () => {
  const world = played(1);
  const call = world.enter(flow("a"));
  world.pause(call);
  world.end(call);
  let goesOn = false;
  call.ticket!.resume(() => {
    goesOn = true;
  });
  call.ticket!.pause();
  expect([goesOn, world.queue.seated()]).toEqual([true, 0]);
  expect(world.enter(flow("b")).state).toBe("seated");
});

test("calls that wait outside take no seat, so calls that need each other cannot block each other", () => {
  const world = played(1);
  const calls = Array.from({ length: 50 }, () => world.enter(flow("a")));
  for (const call of calls) world.pause(call);
  expect(calls.every(({ state }) => state === "outside")).toBe(true);
  for (const call of calls) world.resume(call);
  for (const call of calls) {
    expect(call.state).toBe("seated");
    world.end(call);
  }
});

test("sandbox calls take a quarter of the seats from live calls that wait, and all of them where none does", () => {
  const world = played(8);
  const [live, sandbox] = [flow("live"), flow("sandbox", 100, true)];
  const first = Array.from({ length: 8 }, () => world.enter(sandbox));
  expect(world.in("seated")).toHaveLength(8);
  for (let n = 0; n < 20; n++) {
    world.enter(sandbox);
    world.enter(live);
  }
  world.pass(5);
  for (const call of first) world.end(call);
  const seated = world.in("seated");
  expect(seated.filter(({ flow: of }) => of === sandbox)).toHaveLength(2);
});

test("no more calls with one key than its maximum have begun, even while they wait outside; other calls pass them, also of their flow", () => {
  const world = played(4);
  const bound = { key: "provider", max: 2 };
  const bounded = Array.from({ length: 4 }, () => world.enter(flow("a"), { bound }));
  for (const call of bounded.slice(0, 2)) world.pause(call);
  const others = [world.enter(flow("b")), world.enter(flow("a"))];
  expect([...bounded, ...others].map(({ state }) => state)).toEqual([
    ...["outside", "outside", "waiting", "waiting"],
    ...["seated", "seated"],
  ]);
  world.end(bounded[0]!);
  expect(bounded[2]!.state).toBe("seated");
});
