import { expect, test } from "@jest/globals";
import type { Delivery } from "../model/delivery.ts";
import { createQueue, type Entry, type Priority, type Queue, type Target } from "./queue.ts";

/** Entries are "<organization><endpoint><number>", such as a1x. */
function add(queue: Queue, priority: Priority, ...names: string[]): void {
  for (const name of names) {
    const identity = { _id: name.slice(0, 2), organization_id: name[0]!, url: "https://subscriber.example/hook" };
    queue.add({ delivery: { _id: name } as Delivery, target: queue.target(identity), priority, probe: false });
  }
}

/** Takes everything that may be attempted; no attempt ends. */
function begun(queue: Queue): string {
  const order: string[] = [];
  for (let entry = queue.next(); entry; entry = queue.next()) {
    entry.target.inFlight++;
    order.push(entry.delivery._id);
  }
  return order.join(" ");
}

function open(limit = 100, hasSlot: (target: Target) => boolean = () => true): Queue {
  const queue = createQueue({ hasSlot });
  for (const id of ["a1", "a2", "b1", "c1"]) {
    queue.target({ _id: id, organization_id: id[0]!, url: "https://subscriber.example/hook" }).limit = limit;
  }
  return queue;
}

test.each<[string, Partial<Record<Priority, string[]>>, string]>([
  ["organizations take turns", { first: ["a1x", "a1y", "a1z", "b1x"] }, "a1x b1x a1y a1z"],
  ["the endpoints of an organization take turns", { first: ["a1x", "a1y", "a2x"] }, "a1x a2x a1y"],
  ["one with many endpoints gets no more turns", { first: ["a1x", "a2x", "a1y", "b1x", "b1y"] }, "a1x b1x a2x b1y a1y"],
  ["first attempts go before retries", { retry: ["a1x"], first: ["b1x", "b1y"] }, "b1x b1y a1x"],
  ["urgent ones go before all others", { first: ["a1x"], urgent: ["b1x"] }, "b1x a1x"],
  [
    "every eighth attempt is a retry",
    { retry: ["b1x", "b1y"], first: [..."stuvwxyz"].map((letter) => `a1${letter}`) },
    "a1s a1t a1u a1v a1w a1x a1y b1x a1z b1y",
  ],
])("%s", (_rule, waiting, order) => {
  const queue = open();
  for (const [priority, names] of Object.entries(waiting)) add(queue, priority as Priority, ...names);
  expect(begun(queue)).toBe(order);
  expect(queue.size()).toBe(0);
});

test("an endpoint has a limit of attempts in flight, which does not apply to urgent ones", () => {
  const queue = open(2);
  add(queue, "first", "a1u", "a1v", "a1w", "b1x");
  expect(begun(queue)).toBe("a1u b1x a1v");
  add(queue, "urgent", "a1x");
  expect(begun(queue)).toBe("a1x");
  const target = queue.target({ _id: "a1", organization_id: "a", url: "" });
  target.inFlight -= 2;
  queue.freed(target);
  expect(begun(queue)).toBe("a1w");
});

test("endpoints that find no slot block no others, and try again", () => {
  let full = true;
  const queue = open(100, ({ organization_id }) => organization_id !== "a" || !full);
  add(queue, "first", "a1x", "b1x");
  expect(begun(queue)).toBe("b1x");
  full = false;
  expect(begun(queue)).toBe("");
  queue.reviveAll();
  expect(begun(queue)).toBe("a1x");
});

test("a removed delivery is not attempted", () => {
  const queue = open();
  add(queue, "first", "a1x", "a1y", "b1x");
  const removed: Entry[] = queue.removeIf(({ delivery }) => delivery._id !== "a1y");
  expect(removed.map(({ delivery }) => delivery._id)).toEqual(["a1x", "b1x"]);
  expect(queue.size()).toBe(1);
  expect(begun(queue)).toBe("a1y");
});
