import { metrics } from "@opentelemetry/api";
import { registryDay } from "@vvs/registration";
import { observeGauges } from "@vvs/telemetry/gauges";
import type { IsoDate } from "../model/dates.ts";
import { type Collections, LOAD_KINDS, type LoadDocument } from "../model/documents.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Time for which a refusal is reported, unless a file is loaded or refused meanwhile. */
const REFUSAL_MS = 2 * DAY_MS;
const QUERY_MS = 5_000;

/**
 * Reports whenever metrics are collected the ages of the loaded files, none for a kind of which no file is loaded, and which files
 * were refused. Returns a function that ends it.
 */
export function observeFiles({ loads }: Pick<Collections, "loads">, now: () => Date): () => void {
  const meter = metrics.getMeter("entity");
  const age = meter.createObservableGauge("entity_registry_file_age_days", {
    description:
      "Days in Washington since the cut date of the newest loaded file, by file (registry, exclusions). With exclusions above 3, no registration passes by files, and monitors' runs end in error; with registry above 40, a month's extract was not loaded.",
  });
  const refused = meter.createObservableGauge("entity_registry_file_refused", {
    description:
      "1 where the last file of a kind (registry, exclusions) was refused in the last 48 hours and none was loaded since, with the reason. The older file stays in force until it is too old.",
  });
  /** The cut dates that were read last, which files still have while they can't be read. */
  const known = new Map<LoadDocument["kind"], IsoDate | undefined>();

  async function newestCutDate(kind: LoadDocument["kind"]): Promise<IsoDate | undefined> {
    const options = { sort: { cut_date: -1 }, projection: { cut_date: 1 }, maxTimeMS: QUERY_MS } as const;
    return (await loads.findOne({ kind, state: "done" }, options))?.cut_date;
  }

  return observeGauges(meter, [age, refused], async (observe) => {
    const at = now();
    for (const file of LOAD_KINDS) {
      const cutDate = await newestCutDate(file).catch(() => known.get(file));
      known.set(file, cutDate);
      if (cutDate) observe(age, (Date.parse(registryDay(at)) - Date.parse(cutDate)) / DAY_MS, { file });
    }
    const recent = { state: "refused" as const, started_at: { $gt: new Date(at.getTime() - REFUSAL_MS) } };
    const found = await loads.find(recent, { maxTimeMS: QUERY_MS }).toArray();
    for (const file of LOAD_KINDS) observe(refused, 0, { file });
    for (const { kind, refusal = "" } of found) observe(refused, 1, { file: kind, reason: refusal });
  });
}
