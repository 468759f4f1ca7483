import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import { total } from "../support/command-counts.ts";
import { startCostStack } from "./stack.ts";

// How many commands MongoDB gets for a verification, over all services, with the publishing of its record and the lists of
// vendors that follow it. They don't depend on the machine's speed.

const CALLS = 16;
let stack: Awaited<ReturnType<typeof startCostStack>>;
beforeAll(async () => {
  stack = await startCostStack(process.env.MONGODB_URI!);
  // Everybody has a stored answer, and is in the lists of vendors.
  for (let organization = 0; organization <= CALLS; organization++) {
    const { verification } = await stack.verify(organization, Mode.REALTIME);
    expect(verification?.overallResult).toBe(CheckStatus.PASS);
  }
  await eventually(() => stack.noted() === CALLS + 1);
});
afterAll(() => stack.stop());

test("a cached call alone costs at most 8 commands, and once a second the read of withdrawn loads", async () => {
  const { "find registry_loads": loads = 0, ...counts } = await stack.count(1, () => stack.verify(0, Mode.CACHED));
  expect(loads).toBeLessThanOrEqual(1);
  expect(total(counts)).toBeLessThanOrEqual(8);
});

test("cached calls that come together cost at most one command each", async () => {
  const before = stack.asked.length;
  const { "find registry_loads": _, ...counts } = await stack.count(CALLS + 1, async () => {
    const release = stack.hold();
    const first = stack.verify(0, Mode.CACHED);
    await eventually(() => stack.asked.length === before + 1);
    const others = Array.from({ length: CALLS }, (_, index) => stack.verify(index + 1, Mode.CACHED));
    await stack.arrived();
    release();
    await Promise.all([first, ...others]);
  });
  expect(stack.asked.slice(before)).toEqual([1, CALLS]);
  expect(total(counts)).toBeLessThanOrEqual(CALLS + 1);
});

test("a realtime call that the files answer costs at most 20 commands", async () => {
  expect(total(await stack.count(1, () => stack.verify(0, Mode.REALTIME)))).toBeLessThanOrEqual(20);
});
