import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "@vvs/testing";
import type { Api } from "../../support/api.ts";
import { createOrganization } from "../../support/organization.ts";
import { type Received, startSubscriber } from "../../support/subscriber.ts";
import type { Row } from "../benchmark.ts";
import { sorted } from "../load.ts";
import { figuresOf, ROUND_MS, sizes } from "./figures.ts";
import { startNeighbours } from "./product.ts";

const MONITORS = 30;
const ATTACKING_MONITORS = 100;

/** How long a change takes to its webhook while another organization's webhooks go to a host that never answers. */
export const slowHost: Row<keyof typeof sizes> = {
  name: "slow_host",
  sizes,
  conditions: {
    slow_host_attack: `${ATTACKING_MONITORS} sandbox monitors of one organization, about 20 events a second, each with its own URL on a host that does not answer until the round ends`,
    slow_host_neighbour: `${MONITORS} sandbox monitors of the second organization, about 6 events a second; from the detection of a change until its POST has arrived`,
  },
  targets: { slow_host_p99_ratio: { at_most: 2 } },
  async measure(bench, { rounds, "warm-up-rounds": warmUpRounds }) {
    const { product } = await bench.share("product", startNeighbours);
    const [attacker, neighbour] = [await createOrganization({ product }), await createOrganization({ product })];
    let isHanging = false;
    const held = new Set<() => void>();
    const hanging = await startSubscriber((_received, response) => {
      if (isHanging) held.add(() => response.end());
      else response.end();
    });
    const subscriber = await startSubscriber();
    bench.onClose(async () => {
      hanging.close();
      subscriber.close();
    });
    await watch(neighbour.sandbox, MONITORS, (index) => `${subscriber.url}/${index}`);
    await eventually(() => subscriber.received.length >= MONITORS);
    /** Periods of rounds, by whether the attack went on. */
    const periods = { quiet: [] as [number, number][], attacked: [] as [number, number][] };
    async function round(kind: keyof typeof periods): Promise<void> {
      const host = hanging.url.replace("127.0.0.1", "localhost");
      isHanging = kind === "attacked";
      const ids = isHanging ? await watch(attacker.sandbox, ATTACKING_MONITORS, (index) => `${host}/${index}`) : [];
      if (isHanging) await eventually(() => held.size > 0);
      const began = Date.now();
      await wait(ROUND_MS);
      periods[kind].push([began, Date.now()]);
      bench.log(`  ${kind}: ${held.size} attempts were not answered`);
      isHanging = false;
      await Promise.all(ids.map((id) => attacker.sandbox.delete(`/v1/monitors/${id}`)));
      for (const end of held) end();
      held.clear();
    }
    for (let index = 0; index < warmUpRounds; index++) await round("attacked");
    for (const kind of ["quiet", "attacked"] as const) periods[kind] = [];
    for (let index = 0; index < rounds; index++) {
      await round("quiet");
      await round("attacked");
    }
    // Late ones of the last round count too.
    const last = Date.now();
    await eventually(() => subscriber.received.some((post) => detectedAt(post) > last));
    const latencies = (kind: keyof typeof periods) =>
      sorted(
        subscriber.received
          .filter((post) => periods[kind].some(([from, to]) => detectedAt(post) >= from && detectedAt(post) < to))
          .map((post) => post.at.getTime() - detectedAt(post)),
      );
    return figuresOf("slow_host", latencies("quiet"), latencies("attacked"));
  },
};

/** Number of monitors that are created at the same time: so few that none is refused. */
const CREATED_AT_ONCE = 10;

/** Creates monitors whose vendor changes at each run; returns their ids. */
async function watch(sandbox: Api, count: number, url: (index: number) => string): Promise<string[]> {
  const { id: entity_id } = (await sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } })).body;
  const monitor = { entity_id, checks: ["sam_registration"], frequency: "hourly" };
  const create = async (index: number): Promise<string> => {
    const { status, body } = await sandbox.post("/v1/monitors", { ...monitor, webhook_url: url(index) });
    if (status !== 201) throw new Error(`a monitor was not created: ${status} ${JSON.stringify(body)}`);
    return body.id;
  };
  const ids: string[] = [];
  for (let from = 0; from < count; from += CREATED_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(CREATED_AT_ONCE, count - from) }, (_, index) => from + index);
    ids.push(...(await Promise.all(indexes.map(create))));
  }
  return ids;
}

function detectedAt({ body }: Received): number {
  return Date.parse(JSON.parse(body).changes[0].detected_at);
}
