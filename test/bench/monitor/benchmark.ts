import type { Benchmark } from "../benchmark.ts";
import { day } from "./day.ts";
import { diff } from "./diff.ts";
import { fair } from "./fair.ts";
import { idle } from "./idle.ts";
import { slowTin } from "./slow-tin.ts";

/** Monitors in numbers that an organization with a large account has. */
export const monitorBenchmark: Benchmark = {
  name: "monitor",
  about:
    "many monitors: their scheduler, organizations with very different numbers of them, a slow TIN provider, and a day of those that stand",
  rows: [fair, idle, slowTin, diff, day],
};
