import { create } from "@bufbuild/protobuf";
import {
  type Exclusion,
  ExclusionSchema,
  type RegistryAnswer,
  RegistryAnswerSchema,
  RegistryRecordSchema,
} from "@vvs/proto/entity/v1/entity";
import { cageOf, ueiOf } from "../registry/identifiers.ts";
import { DAY_MS, dayAt, newestCut, textOf } from "./calendar.ts";
import { assumptions, type Population, type VendorExclusion } from "./population.ts";

/** Hour (UTC) at which the extract is loaded on the day of its cut: it is published after 7 AM in Washington. */
const EXTRACT_HOUR = 14;
/** Hour (UTC) at which each day's exclusions file is loaded. */
const EXCLUSIONS_HOUR = 10;
const HOUR_MS = 3_600_000;

/** The files that are loaded at a moment. Both show the state at 00:00 UTC of their cut day. */
export interface LoadedFiles {
  readonly extractCut: number;
  readonly exclusionsCut: number;
}

export function loadedAt(moment: number): LoadedFiles {
  return {
    extractCut: newestCut(dayAt(moment - EXTRACT_HOUR * HOUR_MS)),
    exclusionsCut: dayAt(moment - EXCLUSIONS_HOUR * HOUR_MS),
  };
}

/** Returns the moments at which files are loaded on a day, in order. */
export function loadsOn(day: number): number[] {
  const at = (hour: number) => day * DAY_MS + hour * HOUR_MS;
  return newestCut(day) === day ? [at(EXCLUSIONS_HOUR), at(EXTRACT_HOUR)] : [at(EXCLUSIONS_HOUR)];
}

/**
 * Returns the expiration day that the extract of a cut day lists for a vendor, and undefined where it lists none: the
 * vendor was not registered, or its registration expired more than six months before.
 */
export function listedExpiration(population: Population, vendor: number, cut: number): number | undefined {
  const record = population.recordAt(vendor, cut * DAY_MS);
  if (record.kind !== "registered" || record.expirationDay < cut - assumptions.expiredListedDays) return undefined;
  return record.expirationDay;
}

/** Returns what the loaded files say about a vendor, as the entity service returns it at a moment. */
export function filesOf(population: Population, vendor: number, loaded: LoadedFiles, moment: number): RegistryAnswer {
  const { extractCut, exclusionsCut } = loaded;
  const expiration = listedExpiration(population, vendor, extractCut);
  return create(RegistryAnswerSchema, {
    ...exclusionsOf(population.exclusions.get(vendor), exclusionsCut, dayAt(moment)),
    record:
      expiration === undefined
        ? undefined
        : create(RegistryRecordSchema, {
            uei: ueiOf(population.seed, vendor),
            cage: cageOf(population.seed, vendor),
            legalName: nameOf(vendor),
            extractCode: expiration < extractCut ? "E" : "A",
            excluded: population.isExcludedAt(vendor, extractCut * DAY_MS),
            expirationDate: textOf(expiration),
            entityType: "Corporate Entity (Not Tax Exempt)",
          }),
    registryCutDate: textOf(extractCut),
    registryFile: `extract-${textOf(extractCut)}`,
    registryLoad: `registry:${textOf(extractCut)}`,
    exclusionsCutDate: textOf(exclusionsCut),
    exclusionsFile: `exclusions-${textOf(exclusionsCut)}`,
    exclusionsLoad: `exclusions:${textOf(exclusionsCut)}`,
  });
}

/** Returns a vendor's legal name, in the files and in SAM.gov's answers. */
export function nameOf(vendor: number): string {
  return `VENDOR ${vendor} LLC`;
}

function exclusionsOf(exclusion: VendorExclusion | undefined, cut: number, today: number) {
  if (!exclusion || exclusion.from > cut * DAY_MS) return {};
  const isListed = exclusion.until > cut * DAY_MS;
  const isOver = exclusion.lastDay !== undefined && exclusion.lastDay < today;
  const row = rowOf(exclusion, isListed ? cut : dayAt(exclusion.until), isListed);
  return isListed && !isOver ? { exclusions: [row] } : { endedExclusions: [row] };
}

function rowOf({ from, lastDay }: VendorExclusion, lastSeen: number, isListed: boolean): Exclusion {
  return create(ExclusionSchema, {
    samNumber: "S4MR00000001",
    exclusionType: "Ineligible (Proceedings Completed)",
    program: "Reciprocal",
    agency: "DEPT OF PLAYED THINGS",
    activeDate: textOf(dayAt(from)),
    terminationDate: lastDay === undefined ? "indefinite" : textOf(lastDay),
    firstSeen: textOf(dayAt(from) + 1),
    lastSeen: textOf(lastSeen),
    endedOn: isListed ? "" : textOf(lastSeen + 1),
  });
}
