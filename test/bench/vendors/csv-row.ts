import { setTimeout as wait } from "node:timers/promises";
import type { Row } from "../benchmark.ts";
import { memoryOf } from "../lookup/process-figures.ts";
import { round } from "../round.ts";
import { signInto } from "./dashboard.ts";
import { populate, startWithRegistry } from "./population.ts";

/** How long the browser stops reading after the beginning of the file. */
const STANDSTILL_MS = 3_000;
const SAMPLE_MS = 25;

/** Downloads all vendors of an organization as one CSV file, and measures the memory of the dashboard meanwhile. */
export const csvRow: Row<"vendors"> = {
  name: "csv",
  sizes: { vendors: { long: 100_000, short: 20_000 } },
  conditions: {
    csv_download: `of all vendors; after its beginning nothing is read for ${STANDSTILL_MS / 1_000} s`,
  },
  targets: {
    csv_missing_rows: { at_most: 0 },
    csv_growth_mb: { at_most: 80 },
    csv_standstill_growth_mb: { at_most: 40 },
  },
  async measure(bench, { vendors }) {
    const started = await bench.share(`registry of ${vendors}`, (shared) => startWithRegistry(shared, vendors));
    const organization = await populate(started, vendors);
    const open = await signInto(started.product, organization);
    const pid = started.product.services.pid("dashboard");
    // A shorter file first, so that the process has its usual size.
    await (await open("/live/vendors.csv?show=archived")).text();
    const before = memoryOf(pid).rssMb;
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, memoryOf(pid).rssMb);
    }, SAMPLE_MS);
    bench.onClose(async () => clearInterval(sampling));
    // Those in the archive are in no other list.
    const expected = vendors - Math.ceil(vendors / 5);
    const response = await open("/live/vendors.csv");
    const reader = response.body!.getReader();
    let lines = 0;
    const next = async () => {
      const { value, done } = await reader.read();
      if (value) for (const byte of value) if (byte === 10) lines++;
      return !done;
    };
    await next();
    await wait(STANDSTILL_MS);
    const standstill = peak;
    const began = performance.now();
    while (await next());
    const seconds = (performance.now() - began) / 1_000;
    return {
      csv_rows: lines - 1,
      csv_missing_rows: expected - (lines - 1),
      csv_rows_per_second: Math.round(expected / seconds),
      csv_before_mb: before,
      csv_growth_mb: round(peak - before, 1),
      csv_standstill_growth_mb: round(standstill - before, 1),
    };
  },
};
