import type { Benchmark } from "../benchmark.ts";
import { attackRow, conditions } from "./attack-row.ts";
import { type AttackName, attacks } from "./attacks.ts";
import { slowHost } from "./slow-host.ts";

/** How much one attacker slows another organization down. */
export const neighboursBenchmark: Benchmark = {
  name: "neighbours",
  about: "the p99 of a second organization's calls under each attack, against its quiet p99",
  conditions,
  rows: [...Object.keys(attacks).map((name) => attackRow(name as AttackName)), slowHost],
};
