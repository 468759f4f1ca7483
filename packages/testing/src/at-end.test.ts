import { expect, test } from "@jest/globals";
import { atEnd, closeAll } from "./at-end.ts";

test("what is opened last is closed first, once, and the others although one fails", async () => {
  const closed: string[] = [];
  atEnd(() => closed.push("first"));
  const close = atEnd(() => closed.push("second"));
  atEnd(() => Promise.reject(new Error("third")));
  await close();
  await expect(closeAll()).rejects.toThrow("third");
  expect(closed).toEqual(["second", "first"]);
});
