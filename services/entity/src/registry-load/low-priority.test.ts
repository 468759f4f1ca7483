import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const script = `
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { lowerPriority } from ${JSON.stringify(join(import.meta.dirname, "low-priority.ts"))};
lowerPriority();
const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
console.log(JSON.stringify(threads.map((thread) => getPriority(thread))));
`;

test("every thread of a process has the low priority, including those for garbage collection", () => {
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  const priorities = JSON.parse(output) as number[];
  if (process.platform === "linux") expect(priorities.length).toBeGreaterThan(1);
  expect(new Set(priorities)).toEqual(new Set([10]));
});
