import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../deploy/local/services.ts";

/** The name of an exclusions file of a day, as SAM.gov gives it: the year and the day in it. */
export function exclusionsFileName(day = new Date()): string {
  const year = day.getUTCFullYear();
  const dayOfYear = Math.floor((day.getTime() - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
  return `SAM_Exclusions_Public_Extract_V2_${year % 100}${String(dayOfYear).padStart(3, "0")}.csv`;
}

/** Today's exclusions file, in a folder: without a recent one no registration passes by files. Returns its path. */
export function todaysExclusions(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, exclusionsFileName());
  copyFileSync(join(projectRoot, "test/fixtures/sam/exclusions.csv"), path);
  return path;
}
