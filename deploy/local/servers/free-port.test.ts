import { expect, test } from "@jest/globals";
import { freePort } from "./free-port.ts";

test("two servers that start one after the other, and listen only later, have different ports", async () => {
  const ports: number[] = [];
  for (let count = 0; count < 300; count++) ports.push(await freePort());
  expect(new Set(ports).size).toBe(ports.length);
});
