import { randomUUID } from "node:crypto";
import type { Answer, Api } from "../../support/api.ts";
import { openLoop } from "../load.ts";

/** Calls of the second organization per second, of all kinds in turn. */
export const CALLS_PER_SECOND = 30;

/** Calls of one round. */
export interface Calls {
  /** Milliseconds of the calls that were served, by kind. */
  readonly latencies: Readonly<Record<string, number[]>>;
  /** The same of reads of an entity by the bare chain, made meanwhile. */
  readonly bare: readonly number[];
  /** The calls that were not: their kind, status and body. */
  readonly refused: readonly string[];
}

/** Creates a vendor, and returns a function that makes all kinds of calls about it, in turn, at a steady rate. */
export async function normalCalls(live: Api, { uei, bareUrl }: { uei: string; bareUrl: string }) {
  const name = "Neighbour Works Limited";
  const { id } = (await live.post("/v1/entities", { legal_name: name })).body;
  const kinds: Readonly<Record<string, () => Promise<Answer>>> = {
    fuzzy_look_up: () => live.post("/v1/entities/lookup", { legal_name: "Neighbor Works", mode: "fuzzy" }),
    exact_look_up: () => live.post("/v1/entities/lookup", { legal_name: name }),
    entity: () => live.get(`/v1/entities/${id}`),
    entities: () => live.get("/v1/entities"),
    creation: () => live.post("/v1/entities", { legal_name: `Vendor ${randomUUID()}` }),
    verification: () => live.post("/v1/verify", { identifiers: { uei }, checks: ["sam_registration"], mode: "cached" }),
    monitors: () => live.get("/v1/monitors"),
  };
  const names = Object.keys(kinds);
  let turn = 0;

  return async (forMs: number): Promise<Calls> => {
    const latencies: Record<string, number[]> = Object.fromEntries(names.map((kind) => [kind, []]));
    const refused: string[] = [];
    const bare = openLoop({
      perSecond: CALLS_PER_SECOND,
      forMs,
      call: async () => (await fetch(`${bareUrl}/v1/entities/${id}`)).text(),
    });
    await openLoop({
      perSecond: CALLS_PER_SECOND,
      forMs,
      async call() {
        const kind = names[turn++ % names.length]!;
        const began = performance.now();
        const { status, body } = await kinds[kind]!();
        if (status < 300) latencies[kind]!.push(performance.now() - began);
        else refused.push(`${kind}: ${status} ${JSON.stringify(body)}`);
      },
    });
    return { latencies, bare: [...(await bare).latenciesMs], refused };
  };
}
