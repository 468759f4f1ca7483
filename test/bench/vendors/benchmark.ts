import type { Benchmark } from "../benchmark.ts";
import { csvRow } from "./csv-row.ts";
import { pagesRow } from "./pages-row.ts";

/** Lists of many vendors: pages against those of a short list, and the memory of a download. */
export const vendorsBenchmark: Benchmark = {
  name: "vendors",
  about: "pages of the list of 100,000 vendors against those of 100, and their CSV file",
  rows: [pagesRow, csvRow],
};
