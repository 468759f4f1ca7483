import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startHelper } from "../../support/helper-process.ts";
import { createOrganization } from "../../support/organization.ts";
import type { Row } from "../benchmark.ts";
import { median, percentile, sorted } from "../load.ts";
import { ueiOf } from "../registry/identifiers.ts";
import { round } from "../round.ts";
import { type AttackName, attackNamed } from "./attacks.ts";
import { CALLS_PER_SECOND, type Calls } from "./calls.ts";
import { figuresOf, ROUND_MS, sizes } from "./figures.ts";
import { startNeighbours } from "./product.ts";

export const conditions = {
  neighbours_calls: `${CALLS_PER_SECOND} a second of the second organization, except in slow_host: look-ups by name, an entity, lists, creations, cached verifications`,
  neighbours_rounds: `of ${ROUND_MS / 1_000} s, quiet, the attack alone, and both, alternating; p99 over all rounds`,
  neighbours_throughput: "answers a second to both, those that are refusals left out, ÷ the attacker's alone",
  neighbours_bare: `${CALLS_PER_SECOND} reads of an entity a second meanwhile by express → grpc-js → findOne, which shares only MongoDB and the processors: its p99 during the attack ÷ quiet`,
  neighbours_processes:
    "the whole product and its stores, the attacker and the second organization (each a process of its own) on this machine",
};

/** Returns the row that measures the second organization's calls under an attack. */
export function attackRow(attackName: AttackName): Row<keyof typeof sizes> {
  const { about, atOnce, once = false } = attackNamed(attackName);
  return {
    name: attackName,
    sizes,
    conditions: { [`${attackName}_attack`]: `${about}: ${atOnce} ${once ? "at once" : "always running"}` },
    targets: {
      [`${attackName}_p99_ratio`]: { at_most: 3 },
      [`${attackName}_refused_calls`]: { at_most: 0 },
      ...(!once && { [`${attackName}_throughput_ratio`]: { at_least: 0.9 } }),
    },
    async measure(bench, { rounds, "warm-up-rounds": warmUpRounds }) {
      const { log, onClose } = bench;
      const { product, bareUrl } = await bench.share("product", startNeighbours);
      const [attacker, neighbour] = [await createOrganization({ product }), await createOrganization({ product })];
      const vendors = {
        live: await vendorOf(attacker.live, ueiOf(1, 7)),
        sandbox: await vendorOf(attacker.sandbox, "SANDBXACTVE1"),
        changing: await vendorOf(attacker.sandbox, "SANDBXCHNGE1"),
      };
      for (let index = 0; index < 100; index++)
        await attacker.live.post("/v1/entities", { legal_name: `Own ${index}` });
      const { baseUrl, dashboardUrl } = product;
      const start = async (name: string, environment: Record<string, string>) => {
        const helper = await startHelper({ name, script: join(import.meta.dirname, `${name}.ts`), environment });
        onClose(() => helper.stop());
        return helper.line;
      };
      const attacks = await start("attacker", {
        ATTACK: attackName,
        ATTACKER: JSON.stringify({ baseUrl, dashboardUrl, keys: attacker.keys, victim: neighbour.email, vendors }),
      });
      const calls = await start("neighbour", {
        NEIGHBOUR: JSON.stringify({ baseUrl, key: neighbour.keys.live, uei: ueiOf(1, 8), bareUrl }),
      });
      const call = async () => (await (await fetch(calls)).json()) as Calls;
      async function underAttack<T>(meanwhile: () => Promise<T>): Promise<{ made: T; servedPerSecond: number }> {
        await fetch(`${attacks}/begin`);
        const made = await meanwhile();
        const answers = (await (await fetch(`${attacks}/end`)).json()) as { servedPerSecond: number };
        log(`  the attacker's answers: ${JSON.stringify(answers)}`);
        return { made, servedPerSecond: answers.servedPerSecond };
      }
      for (let index = 0; index < warmUpRounds; index++) await underAttack(call);
      const [quiet, attacked, throughputs]: [Calls[], Calls[], number[]] = [[], [], []];
      for (let index = 0; index < rounds; index++) {
        quiet.push(await call());
        const alone = await underAttack(() => wait(ROUND_MS));
        const beside = await underAttack(call);
        attacked.push(beside.made);
        const neighbours = Object.values(beside.made.latencies).flat().length / (ROUND_MS / 1_000);
        throughputs.push((beside.servedPerSecond + neighbours) / alone.servedPerSecond);
      }
      logKinds(log, quiet, attacked);
      const refused = [...quiet, ...attacked].flatMap((each) => each.refused);
      for (const each of refused.slice(0, 5)) log(`  refused: ${each}`);
      return {
        ...figuresOf(attackName, allOf(quiet), allOf(attacked)),
        [`${attackName}_bare_p99_ratio`]: round(percentile(bareOf(attacked), 99) / percentile(bareOf(quiet), 99), 2),
        [`${attackName}_refused_calls`]: refused.length,
        ...(!once && { [`${attackName}_throughput_ratio`]: round(median(throughputs), 2) }),
      };
    },
  };
}

function logKinds(log: (line: string) => void, quiet: readonly Calls[], attacked: readonly Calls[]): void {
  for (const kind of Object.keys(quiet[0]!.latencies)) {
    const ms = (rounds: readonly Calls[], percent: number) => percentile(allOf(rounds, kind), percent).toFixed(1);
    log(`  ${kind}: p50 ${ms(quiet, 50)} → ${ms(attacked, 50)} ms, p99 ${ms(quiet, 99)} → ${ms(attacked, 99)} ms`);
  }
}

const bareOf = (rounds: readonly Calls[]) => sorted(rounds.flatMap(({ bare }) => bare));

/** Returns the sorted latencies of all rounds, of one kind or of all. */
function allOf(rounds: readonly Calls[], kind?: string): number[] {
  return sorted(rounds.flatMap(({ latencies }) => (kind ? latencies[kind]! : Object.values(latencies).flat())));
}

async function vendorOf(
  { post }: { post: (path: string, body: unknown) => Promise<{ body: { id: string } }> },
  uei: string,
): Promise<string> {
  return (await post("/v1/entities/lookup", { identifiers: { uei } })).body.id;
}
