import { expect, test } from "@jest/globals";
import { createLanes, createSlots } from "./lanes.ts";

test("tasks of one lane follow each other, tasks of different lanes do not wait", async () => {
  const lanes = createLanes();
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  lanes.add("a", async () => {
    await gate.promise;
    seen.push("a1");
  });
  lanes.add("a", async () => void seen.push("a2"));
  lanes.add("b", async () => {
    seen.push("b1");
    gate.resolve();
  });
  await lanes.idle();
  expect(seen).toEqual(["b1", "a1", "a2"]);
});

test("no more run at once than there are slots, and a failure gives its slot back", async () => {
  const inSlot = createSlots(2);
  let running = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((number) =>
      inSlot(async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        if (number === 2) throw new Error("two");
      }),
    ),
  );
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
});
