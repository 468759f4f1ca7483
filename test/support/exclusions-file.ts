import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../deploy/local/services.ts";

/** Returns SAM.gov's name for the exclusions file of a day; it contains the year and the day of the year. */
export function exclusionsFileName(day = new Date()): string {
  const year = day.getUTCFullYear();
  const dayOfYear = Math.floor((day.getTime() - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
  return `SAM_Exclusions_Public_Extract_V2_${year % 100}${String(dayOfYear).padStart(3, "0")}.csv`;
}

/** Creates today's exclusions file; returns its path. Without a recent one the files let no registration pass. */
export function todaysExclusions(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, exclusionsFileName());
  copyFileSync(join(projectRoot, "test/fixtures/sam/exclusions.csv"), path);
  return path;
}
