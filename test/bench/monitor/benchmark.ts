import type { Benchmark } from "../benchmark.ts";
import { diff } from "./diff.ts";
import { fair } from "./fair.ts";
import { idle } from "./idle.ts";
import { slowTin } from "./slow-tin.ts";

/** Monitors in numbers that an organization with a large account has. */
export const monitorBenchmark: Benchmark = {
  name: "monitor",
  about: "many monitors: their scheduler, organizations with very different numbers of them, and a slow TIN provider",
  rows: [fair, idle, slowTin, diff],
};
