import { DAY_MS } from "./calendar.ts";
import { filesOf, type LoadedFiles, listedExpiration, loadedAt } from "./files.ts";
import type { Population } from "./population.ts";

const NOT_LISTED = -1;

export type RegistryFiles = ReturnType<typeof createRegistryFiles>;

/** Creates the files that the product has loaded; none at first. */
export function createRegistryFiles(population: Population) {
  let loaded: LoadedFiles = { extractCut: NOT_LISTED, exclusionsCut: NOT_LISTED };
  let listed = new Int32Array(0);
  return {
    /** Returns the expiration day of a vendor in the loaded extract; -1 where it is not listed. */
    listed: (vendor: number) => listed[vendor]!,
    /** Returns the date of the extract that lists a vendor, in milliseconds; undefined where it is not listed. */
    dateOf: (vendor: number) => (listed[vendor] === NOT_LISTED ? undefined : loaded.extractCut * DAY_MS),
    /** Returns what the entity service answers about a vendor. */
    of: (vendor: number, now: Date) => filesOf(population, vendor, loaded, now.getTime()),
    /** Loads the newest files of a moment. Returns the vendors that they changed. */
    load(moment: number): number[] {
      const before = { loaded, listed };
      loaded = loadedAt(moment);
      const changed = new Set<number>();
      for (const vendor of population.exclusions.keys()) {
        const isNamed = ({ exclusionsCut }: LoadedFiles) => population.isExcludedAt(vendor, exclusionsCut * DAY_MS);
        if (isNamed(before.loaded) !== isNamed(loaded)) changed.add(vendor);
      }
      if (loaded.extractCut === before.loaded.extractCut) return [...changed];
      listed = new Int32Array(population.size);
      for (let vendor = 0; vendor < population.size; vendor++) {
        listed[vendor] = listedExpiration(population, vendor, loaded.extractCut) ?? NOT_LISTED;
        // Vendors that a file only added start no runs.
        if (listed[vendor] !== before.listed[vendor] && before.listed[vendor] !== NOT_LISTED) changed.add(vendor);
      }
      return [...changed];
    },
  };
}
