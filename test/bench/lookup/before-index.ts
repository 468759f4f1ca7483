import { EntityService } from "@vvs/proto/entity/v1/entity";
import { createClient } from "@vvs/rpc";
import { median } from "../load.ts";
import { type NameModel, textOf } from "../registry/names.ts";
import { randomOf } from "../registry/random.ts";
import { newCaller } from "./caller.ts";
import { nameKey } from "./same-name.ts";

/** Looks up exact names, one at a time, until the service has its name index. */
export async function askBeforeIndex(options: {
  readonly address: string;
  readonly registry: { readonly seed: number; readonly size: number; readonly names: NameModel };
  readonly isUp: () => boolean;
}): Promise<Record<string, number>> {
  const { address, registry, isUp } = options;
  const { seed, size, names } = registry;
  const client = createClient(EntityService, { address, caller: "gateway", tls: undefined });
  const caller = newCaller();
  const random = randomOf(seed, 98, 0);
  const latenciesMs: number[] = [];
  let [right, failed] = [0, 0];
  try {
    while (!isUp()) {
      const wanted = textOf(names.nameAt(random.below(size)));
      const began = performance.now();
      try {
        const { entity, candidates } = await client.lookUp({ caller, legalName: wanted, fuzzy: true });
        const found = entity ? [entity.legalName] : candidates.map(({ legalName }) => legalName);
        if (found.some((name) => nameKey(name) === nameKey(wanted))) right++;
      } catch (error) {
        if ((error as { code?: unknown }).code !== "entity_not_found") failed++;
      }
      latenciesMs.push(performance.now() - began);
    }
  } finally {
    client.close();
  }
  const count = latenciesMs.length;
  return {
    asked_before_index: count,
    failed_before_index: failed,
    ...(count > 0 && {
      right_before_index: Number((right / count).toFixed(3)),
      before_index_p50_ms: Number(median(latenciesMs).toFixed(1)),
    }),
  };
}
