import { metrics, type ObservableResult } from "@opentelemetry/api";
import { type Environment, environments } from "@vvs/tenant";

/** How the index is, as the gauges tell it. */
export interface ObservedIndex {
  /** Names in it; 0 while there is none. */
  readonly names: number;
  /** Milliseconds since 1970 until when it misses nothing; undefined while there is none. */
  readonly completeUntil: Readonly<Record<Environment, number>> | undefined;
}

/** Tells how the index is whenever metrics are collected. Gives the end of it. */
export function observeIndex(read: () => ObservedIndex, now: () => Date): () => void {
  const meter = metrics.getMeter("entity");
  const names = meter.createObservableGauge("entity_name_index_names", {
    description:
      "Names in the index of this process. A sustained 0 means that look-ups by name go by MongoDB's keys alone: slower, and with more typing errors missed.",
  });
  const lag = meter.createObservableGauge("entity_name_index_lag", {
    description:
      "How long ago the index of names was complete. More than 8 s means that MongoDB is asked too, as while a registry is loaded; sustained, that changes can't be followed.",
    unit: "s",
  });
  const tellNames = (result: ObservableResult) => result.observe(read().names);
  const tellLag = (result: ObservableResult) => {
    const { completeUntil } = read();
    if (!completeUntil) return;
    for (const environment of environments) {
      if (completeUntil[environment] === 0) continue;
      result.observe((now().getTime() - completeUntil[environment]) / 1_000, { environment });
    }
  };
  names.addCallback(tellNames);
  lag.addCallback(tellLag);
  return () => {
    names.removeCallback(tellNames);
    lag.removeCallback(tellLag);
  };
}
