import { percentile } from "../load.ts";
import { round } from "../round.ts";

export const ROUND_MS = 12_000;
/** Rounds of each kind, quiet and under attack, and rounds until the processes reach full speed. */
export const sizes = { rounds: { long: 6, short: 1 }, "warm-up-rounds": { long: 2, short: 1 } };

/** Returns the figures of a row: percentiles of both kinds of rounds, and the ratio of the 99th. Latencies are sorted. */
export function figuresOf(name: string, quiet: readonly number[], attacked: readonly number[]): Record<string, number> {
  const [quietP99, attackedP99] = [percentile(quiet, 99), percentile(attacked, 99)];
  return {
    [`${name}_quiet_p50_ms`]: round(percentile(quiet, 50), 1),
    [`${name}_attacked_p50_ms`]: round(percentile(attacked, 50), 1),
    [`${name}_quiet_p99_ms`]: round(quietP99, 1),
    [`${name}_attacked_p99_ms`]: round(attackedP99, 1),
    [`${name}_p99_ratio`]: round(attackedP99 / quietP99, 2),
  };
}
