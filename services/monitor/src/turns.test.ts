import { expect, test } from "@jest/globals";
import { createTurns } from "./turns.ts";

test("work of a key runs in turn, also behind work that fails, and other keys do not wait", async () => {
  const inTurn = createTurns();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = inTurn("a", async () => {
    await gate.promise;
    seen.push("a1");
    throw new Error("refused");
  });
  const second = inTurn("a", async () => void seen.push("a2"));
  await inTurn("b", async () => void seen.push("b"));
  gate.resolve();
  await expect(first).rejects.toThrow("refused");
  await second;
  expect(seen).toEqual(["b", "a1", "a2"]);
});
