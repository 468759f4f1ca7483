import { join } from "node:path";
import { startHelper } from "../../support/helper-process.ts";
import { createOrganization } from "../../support/organization.ts";
import { percentile, sorted } from "../load.ts";
import { ueiOf } from "../registry/identifiers.ts";
import { round } from "../round.ts";
import type { Row } from "../rows.ts";
import { type AttackName, attacks } from "./attacks.ts";
import { CALLS_PER_SECOND, type Latencies, normalCalls } from "./calls.ts";
import { startNeighbours } from "./product.ts";

const ROUNDS = 6;
const ROUND_MS = 12_000;
/** Rounds until the processes reach full speed. */
const WARM_UP_ROUNDS = 2;

export const conditions = {
  neighbours_calls: `${CALLS_PER_SECOND} a second of the second organization: look-ups by name, an entity, lists, creations, cached verifications`,
  neighbours_rounds: `${ROUNDS} of ${ROUND_MS / 1_000} s, quiet and under attack, alternating; p99 over all rounds`,
  neighbours_processes:
    "the whole product, its stores, the attacker (a process of its own) and the second organization on this machine",
};

/** Returns the row that measures the second organization's calls under an attack. */
export function attackRow(attackName: AttackName): Row {
  const { about, atOnce, everyMs } = attacks[attackName];
  return {
    name: attackName,
    conditions: { [`${attackName}_attack`]: `${about}: ${atOnce} at once, every ${everyMs / 1_000} s` },
    targets: { [`${attackName}_p99_ratio`]: { at_most: 2 } },
    async measure(bench) {
      const { log, onClose } = bench;
      const product = await startNeighbours(bench);
      const [attacker, neighbour] = [await createOrganization({ product }), await createOrganization({ product })];
      const vendors = { live: await vendorOf(attacker.live, ueiOf(1, 7)), sandbox: await vendorOf(attacker.sandbox) };
      for (let index = 0; index < 100; index++)
        await attacker.live.post("/v1/entities", { legal_name: `Own ${index}` });
      const call = await normalCalls(neighbour, ueiOf(1, 8));
      const helper = await startHelper({
        name: "attacker",
        script: join(import.meta.dirname, "attacker.ts"),
        environment: {
          ATTACK: attackName,
          ATTACKER: JSON.stringify({
            baseUrl: product.baseUrl,
            dashboardUrl: product.dashboardUrl,
            keys: attacker.keys,
            victim: neighbour.email,
            vendors,
          }),
        },
      });
      onClose(() => helper.stop());
      async function underAttack(): Promise<Latencies> {
        await fetch(`${helper.line}/begin`);
        const latencies = await call(ROUND_MS);
        log(`  the attacker's answers: ${await (await fetch(`${helper.line}/end`)).text()}`);
        return latencies;
      }
      for (let index = 0; index < WARM_UP_ROUNDS; index++) await underAttack();
      const [quiet, attacked]: [Latencies[], Latencies[]] = [[], []];
      for (let index = 0; index < (bench.number ?? ROUNDS); index++) {
        quiet.push(await call(ROUND_MS));
        attacked.push(await underAttack());
      }
      logKinds(log, quiet, attacked);
      return figuresOf(attackName, allOf(quiet), allOf(attacked));
    },
  };
}

function figuresOf(name: string, quiet: readonly number[], attacked: readonly number[]): Record<string, number> {
  const [quietP99, attackedP99] = [percentile(quiet, 99), percentile(attacked, 99)];
  return {
    [`${name}_quiet_p50_ms`]: round(percentile(quiet, 50), 1),
    [`${name}_attacked_p50_ms`]: round(percentile(attacked, 50), 1),
    [`${name}_quiet_p99_ms`]: round(quietP99, 1),
    [`${name}_attacked_p99_ms`]: round(attackedP99, 1),
    [`${name}_p99_ratio`]: round(attackedP99 / quietP99, 2),
  };
}

function logKinds(log: (line: string) => void, quiet: readonly Latencies[], attacked: readonly Latencies[]): void {
  for (const kind of quiet[0]!.keys()) {
    const ms = (rounds: readonly Latencies[], percent: number) => percentile(allOf(rounds, kind), percent).toFixed(1);
    log(`  ${kind}: p50 ${ms(quiet, 50)} → ${ms(attacked, 50)} ms, p99 ${ms(quiet, 99)} → ${ms(attacked, 99)} ms`);
  }
}

/** Returns the sorted latencies of all rounds, of one kind or of all. */
function allOf(rounds: readonly Latencies[], kind?: string): number[] {
  return sorted(rounds.flatMap((each) => (kind ? each.get(kind)! : [...each.values()].flat())));
}

async function vendorOf(
  { post }: { post: (path: string, body: unknown) => Promise<{ body: { id: string } }> },
  uei = "SANDBXACTVE1",
): Promise<string> {
  return (await post("/v1/entities/lookup", { identifiers: { uei } })).body.id;
}
