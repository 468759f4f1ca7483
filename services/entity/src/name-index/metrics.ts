import { metrics } from "@opentelemetry/api";
import { type Environment, environments } from "@vvs/tenant";
import type { OwnNames } from "./messages.ts";

export interface ObservedIndex {
  /** Number of names; 0 while there is no index. */
  readonly names: number;
  /** Milliseconds since 1970 until which it misses nothing, 0 where unknown; undefined while there is no index. */
  readonly completeUntil: Readonly<Record<Environment, number>> | undefined;
  /** Undefined while there is no index. */
  readonly ownNames: Readonly<Record<Environment, OwnNames>> | undefined;
}

/** Reports the index whenever metrics are collected; returns a function that ends this. */
export function observeIndex(read: () => ObservedIndex, now: () => Date): () => void {
  const meter = metrics.getMeter("entity");
  const names = meter.createObservableGauge("entity_name_index_names", {
    description:
      "Names in this process's index. A sustained 0 means that look-ups by name use only MongoDB's keys: slower, and finding fewer names with typing errors.",
  });
  const lag = meter.createObservableGauge("entity_name_index_lag", {
    description:
      "Time since the name index was complete. Above 8 s, look-ups also use MongoDB's keys, as during a registry load; sustained, it means that changes can't be followed.",
    unit: "s",
  });
  const own = meter.createObservableGauge("entity_name_index_own_names", {
    description:
      "Names of organizations' own entities in the index, changed ones counted again: of all together, and of the one with the most. At 250,000 an organization's further names are found only by MongoDB's keys. 1,000,000 in all take about 200 MB: raise the memory limit before.",
  });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    const index = read();
    result.observe(names, index.names);
    for (const environment of environments) {
      const completeUntil = index.completeUntil?.[environment];
      for (const [of, count] of Object.entries(index.ownNames?.[environment] ?? {}))
        result.observe(own, count, { environment, of });
      if (completeUntil) result.observe(lag, (now().getTime() - completeUntil) / 1_000, { environment });
    }
  };
  meter.addBatchObservableCallback(observe, [names, lag, own]);
  return () => meter.removeBatchObservableCallback(observe, [names, lag, own]);
}
