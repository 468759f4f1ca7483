import { newId } from "@vvs/ids";
import { type Caller, Environment } from "@vvs/proto/common/v1/common";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { createClient } from "@vvs/rpc";
import { openLoop, percentile, sorted } from "../load.ts";
import { ueiOf } from "../registry/identifiers.ts";
import { type NameModel, textOf } from "../registry/names.ts";

const IDENTIFIERS_PER_SECOND = 20;
const NAMES_PER_SECOND = 5;
const SLICE_MS = 1_000;

export interface Lookups {
  stop(): Promise<Readonly<Record<string, number>>>;
}

/** Looks up rows that are being loaded, by identifier and by name, at a steady rate until it is stopped. */
export function startLookups(options: { address: string; seed: number; size: number; names: NameModel }): Lookups {
  const { address, seed, size, names } = options;
  const client = createClient(EntityService, { address, caller: "gateway", tls: undefined });
  const caller = {
    tenant: { organizationId: newId("org"), environment: Environment.LIVE },
    actor: newId("key"),
    requestId: newId("req"),
  } as Pick<Caller, "tenant" | "actor" | "requestId">;
  let isOver = false;
  const anyIndex = () => Math.floor(Math.random() * size);
  const byIdentifier = () => client.lookUp({ caller, identifiers: { uei: ueiOf(seed, anyIndex()) } });
  const byName = () => client.lookUp({ caller, legalName: textOf(names.nameAt(anyIndex())), fuzzy: true });
  const until = async (perSecond: number, call: () => Promise<unknown>) => {
    const result = { latenciesMs: [] as number[], failed: 0 };
    while (!isOver) {
      const slice = await openLoop({ perSecond, forMs: SLICE_MS, call: () => call().catch(ignoreAbsent) });
      result.latenciesMs.push(...slice.latenciesMs);
      result.failed += slice.failed;
    }
    return result;
  };
  const identifiers = until(IDENTIFIERS_PER_SECOND, byIdentifier);
  const byNames = until(NAMES_PER_SECOND, byName);
  return {
    async stop() {
      isOver = true;
      const [one, other] = [await identifiers, await byNames];
      client.close();
      return {
        ...latencies("identifier", one.latenciesMs),
        ...latencies("name", other.latenciesMs),
        failed_lookups: one.failed + other.failed,
      };
    },
  };
}

function latencies(name: string, valuesMs: readonly number[]): Record<string, number> {
  const values = sorted(valuesMs);
  const at = (percent: number) => Number(percentile(values, percent).toFixed(1));
  return { [`${name}_lookups`]: values.length, [`${name}_p50_ms`]: at(50), [`${name}_p99_ms`]: at(99) };
}

/** Ignores look-ups of rows that are not loaded yet. */
function ignoreAbsent(error: unknown): void {
  if ((error as { code?: unknown }).code !== "entity_not_found") throw error;
}
