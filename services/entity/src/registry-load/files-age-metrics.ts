import { metrics } from "@opentelemetry/api";
import { registryDay } from "@vvs/registration";
import type { IsoDate } from "../model/dates.ts";
import { type Collections, LOAD_KINDS, type LoadDocument } from "../model/documents.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const QUERY_MS = 5_000;

/** Returns the cut date of the newest file of a kind that is completely loaded; undefined without one. */
async function newestCutDate(loads: Collections["loads"], kind: LoadDocument["kind"]) {
  const options = { sort: { cut_date: -1 }, projection: { cut_date: 1 }, maxTimeMS: QUERY_MS } as const;
  return (await loads.findOne({ kind, state: "done" }, options))?.cut_date;
}

/**
 * Reports the ages of the loaded files whenever metrics are collected; none for a kind of which no file is loaded. Returns
 * a function that ends it.
 */
export function observeFiles({ loads }: Pick<Collections, "loads">, now: () => Date): () => void {
  const age = metrics.getMeter("entity").createObservableGauge("entity_registry_file_age_days", {
    description:
      "Days in Washington since the cut date of the newest loaded file, by file (registry, exclusions). With exclusions above 3, no registration passes by files, and monitors' runs end in error; with registry above 40, a month's extract was not loaded.",
  });
  // OpenTelemetry exports the last value again when there is no new one.
  const known = new Map<LoadDocument["kind"], IsoDate>();
  const observe: Parameters<typeof age.addCallback>[0] = async (result) => {
    const today = registryDay(now());
    for (const file of LOAD_KINDS) {
      const cutDate = (await newestCutDate(loads, file).catch(() => undefined)) ?? known.get(file);
      if (!cutDate) continue;
      known.set(file, cutDate);
      result.observe((Date.parse(today) - Date.parse(cutDate)) / DAY_MS, { file });
    }
  };
  age.addCallback(observe);
  return () => age.removeCallback(observe);
}
