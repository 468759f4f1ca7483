import { setTimeout as wait } from "node:timers/promises";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { type Client, createClient } from "@vvs/rpc";
import { percentile, sorted } from "../load.ts";
import { newCaller } from "./caller.ts";
import type { GeneratedQuery } from "./generated-queries.ts";
import { judge, type Outcome } from "./judgement.ts";
import type { LoadedService } from "./loaded-service.ts";
import { cpuMsOf, memoryOf } from "./process-figures.ts";
import { nameKey } from "./same-name.ts";

/** Number of queries until the runtime has compiled the code: a service runs for days. */
const WARM_UP = 2_000;
/** Share of names to change: more than an index of a million names accepts before it is rebuilt. */
const CHANGED_SHARE = 0.05;

/** Measures the queries one at a time, as a person would send them. */
export async function measureByName(
  service: LoadedService,
  queries: readonly GeneratedQuery[],
  log: (line: string) => void,
): Promise<Record<string, number>> {
  const client = createClient(EntityService, { address: service.address, caller: "gateway", tls: undefined });
  try {
    const ordered = shuffled(queries);
    for (const query of ordered.slice(0, WARM_UP)) await ask(client, query);
    const latenciesMs: number[] = [];
    const outcomes: Outcome[] = [];
    const before = cpuMsOf(service.pid);
    for (const query of ordered) {
      const start = performance.now();
      const outcome = await ask(client, query);
      latenciesMs.push(performance.now() - start);
      outcomes.push(outcome);
    }
    const cpuMs = (cpuMsOf(service.pid) - before) / ordered.length;
    const values = sorted(latenciesMs);
    return {
      queries: ordered.length,
      ...judge(outcomes),
      name_p50_ms: rounded(percentile(values, 50)),
      name_p99_ms: rounded(percentile(values, 99)),
      name_cpu_ms: rounded(cpuMs),
      index_up_seconds: rounded(service.indexSeconds),
      ...service.beforeIndex,
      rss_mb: memoryOf(service.pid).rssMb,
      ...(await measureSwap(service, log)),
    };
  } finally {
    client.close();
  }
}

const caller = newCaller();

async function ask(client: Client<typeof EntityService>, { cat, q, wanted }: GeneratedQuery): Promise<Outcome> {
  const answers = await client.lookUp({ caller, legalName: q, fuzzy: true }).then(
    ({ entity, confidence, candidates }) =>
      entity
        ? [{ legalName: entity.legalName, confidence }]
        : candidates.map(({ legalName, confidence }) => ({ legalName, confidence })),
    (error: unknown) => {
      if ((error as { code?: unknown }).code === "entity_not_found") return [];
      throw error;
    },
  );
  return {
    cat,
    isPresent: wanted !== undefined,
    right: answers.map(({ legalName }) => wanted !== undefined && nameKey(legalName) === nameKey(wanted)),
    confidences: answers.map(({ confidence }) => confidence),
  };
}

/** Measures the peak memory while a new index is built beside the old one, after many names changed. */
async function measureSwap({ client, database, pid, untilGeneration }: LoadedService, log: (line: string) => void) {
  log("Changing names, so that the index is rebuilt ...");
  const entities = client.db(database).collection("entities");
  const changed = await entities
    .find({ organization_id: null }, { projection: { _id: 1 } })
    .limit(Math.ceil((await entities.estimatedDocumentCount()) * CHANGED_SHARE) + 20_000)
    .toArray();
  await entities.updateMany({ _id: { $in: changed.map(({ _id }) => _id) } }, [
    { $set: { legal_name: { $concat: ["$legal_name", " "] } } },
  ]);
  let isOver = false;
  let peakMb = 0;
  const watching = (async () => {
    for (; !isOver; await wait(100)) peakMb = Math.max(peakMb, memoryOf(pid).rssMb);
  })();
  await untilGeneration(2);
  isOver = true;
  await watching;
  return { swap_peak_mb: peakMb, rss_after_swap_mb: memoryOf(pid).rssMb };
}

/** Returns the items in an order that mixes the categories, always the same. */
function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one, index) => ({ one, order: Math.imul(index + 1, 0x9e3779b1) >>> 0 }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one);
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}
