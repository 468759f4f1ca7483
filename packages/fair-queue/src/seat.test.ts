import { expect, test } from "@jest/globals";
import { createFairQueue } from "./fair-queue.ts";
import { inParts, inSeat, outside } from "./seat.ts";
import { randomOf } from "./testing/random.ts";

const FLOW = { id: "a", weight: 4, isSandbox: false };
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface PlayedCall {
  state: "waiting" | "begun" | "ended";
  /** Number of parts that run, and of those that ask for the seat again. */
  running: number;
  returning: number;
}

/** Calls with random parts, each of whose steps ends when the test says so. */
function played(seats: number, random: () => number) {
  const queue = createFairQueue({ seats, clock: () => 0 });
  const calls: PlayedCall[] = [];
  const steps = new Set<() => void>();
  const overtaken: PlayedCall[] = [];

  const step = () => new Promise<void>((resolve) => steps.add(resolve));

  async function compute(call: PlayedCall): Promise<void> {
    call.running++;
    await step();
    call.running--;
  }

  async function waitOutside(call: PlayedCall): Promise<void> {
    await outside(async () => {
      await step();
      call.returning++;
    });
    call.returning--;
  }

  async function part(call: PlayedCall, depth = 0): Promise<void> {
    for (let left = Math.floor(random() * 4); left > 0; left--) {
      const kind = random();
      if (kind < 0.3) await compute(call);
      else if (kind < 0.7 || depth === 2) await waitOutside(call);
      else {
        const parts = inParts(Array.from({ length: Math.floor(random() * 4) }, () => () => part(call, depth + 1)));
        await (random() < 0.5 ? parts : parts.catch(() => undefined));
      }
    }
    if (random() < 0.15) throw new Error("failed");
  }

  return {
    queue,
    calls,
    steps,
    overtaken,
    enter(): void {
      const call: PlayedCall = { state: "waiting", running: 0, returning: 0 };
      calls.push(call);
      const begin = async () => {
        overtaken.push(...calls.filter(({ state, returning }) => state === "begun" && returning > 0));
        call.state = "begun";
        await inSeat({ ticket, queue }, () => part(call)).catch(() => undefined);
        call.state = "ended";
        ticket.end();
      };
      // A call may begin before its ticket is returned.
      const ticket = queue.enter({ flow: FLOW, kind: "call", begin: () => queueMicrotask(begin) });
    },
  };
}

test.each(Array.from({ length: 200 }, (_, seed) => seed))(
  "a call holds one seat while a part of it runs, and else none (seed %i)",
  async (seed) => {
    const random = randomOf(seed);
    const seats = 1 + Math.floor(random() * 3);
    const { queue, calls, steps, overtaken, enter } = played(seats, random);
    for (let left = 8; left > 0 || steps.size > 0; ) {
      if (left > 0 && (steps.size === 0 || random() < 0.3)) {
        enter();
        left--;
      } else {
        const end = [...steps][Math.floor(random() * steps.size)]!;
        steps.delete(end);
        end();
      }
      await turn();
      const begun = calls.filter(({ state }) => state === "begun");
      expect(queue.seated()).toBe(begun.filter(({ running }) => running > 0).length);
      const wanting = begun.filter(({ running, returning }) => running === 0 && returning > 0).length + queue.waiting();
      if (wanting > 0) expect(queue.seated()).toBe(seats);
    }
    expect(overtaken).toEqual([]);
    expect(calls.every(({ state }) => state === "ended")).toBe(true);
    expect(queue.seated()).toBe(0);
  },
);
