import { join } from "node:path";
import { startHelper } from "../../support/helper-process.ts";
import { createOrganization } from "../../support/organization.ts";
import { percentile, sorted } from "../load.ts";
import { ueiOf } from "../registry/identifiers.ts";
import type { Row } from "../rows.ts";
import { type AttackName, attacks } from "./attacks.ts";
import { CALLS_PER_SECOND, type Calls, normalCalls } from "./calls.ts";
import { figuresOf, ROUND_MS, ROUNDS, WARM_UP_ROUNDS } from "./figures.ts";
import { startNeighbours } from "./product.ts";

export const conditions = {
  neighbours_calls: `${CALLS_PER_SECOND} a second of the second organization, except in slow_host: look-ups by name, an entity, lists, creations, cached verifications`,
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
    targets: { [`${attackName}_p99_ratio`]: { at_most: 2 }, [`${attackName}_refused_calls`]: { at_most: 0 } },
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
      async function underAttack(): Promise<Calls> {
        await fetch(`${helper.line}/begin`);
        const calls = await call(ROUND_MS);
        log(`  the attacker's answers: ${await (await fetch(`${helper.line}/end`)).text()}`);
        return calls;
      }
      for (let index = 0; index < WARM_UP_ROUNDS; index++) await underAttack();
      const [quiet, attacked]: [Calls[], Calls[]] = [[], []];
      for (let index = 0; index < (bench.number ?? ROUNDS); index++) {
        quiet.push(await call(ROUND_MS));
        attacked.push(await underAttack());
      }
      logKinds(log, quiet, attacked);
      const refused = [...quiet, ...attacked].flatMap((each) => each.refused);
      for (const each of refused.slice(0, 5)) log(`  refused: ${each}`);
      return {
        ...figuresOf(attackName, allOf(quiet), allOf(attacked)),
        [`${attackName}_refused_calls`]: refused.length,
      };
    },
  };
}

function logKinds(log: (line: string) => void, quiet: readonly Calls[], attacked: readonly Calls[]): void {
  for (const kind of quiet[0]!.latencies.keys()) {
    const ms = (rounds: readonly Calls[], percent: number) => percentile(allOf(rounds, kind), percent).toFixed(1);
    log(`  ${kind}: p50 ${ms(quiet, 50)} → ${ms(attacked, 50)} ms, p99 ${ms(quiet, 99)} → ${ms(attacked, 99)} ms`);
  }
}

/** Returns the sorted latencies of all rounds, of one kind or of all. */
function allOf(rounds: readonly Calls[], kind?: string): number[] {
  return sorted(rounds.flatMap(({ latencies }) => (kind ? latencies.get(kind)! : [...latencies.values()].flat())));
}

async function vendorOf(
  { post }: { post: (path: string, body: unknown) => Promise<{ body: { id: string } }> },
  uei = "SANDBXACTVE1",
): Promise<string> {
  return (await post("/v1/entities/lookup", { identifiers: { uei } })).body.id;
}
