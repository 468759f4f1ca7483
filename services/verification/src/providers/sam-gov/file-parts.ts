import type { RegistryAnswer, RegistryRecord } from "@vvs/proto/entity/v1/entity";
import {
  addDays,
  dayOfPart,
  type Exclusion,
  type ExclusionsPart,
  effectInForce,
  exclusionFromMessage,
  isInForce,
  isTrusted,
  newestParts,
  type PartSource,
  type Parts,
  type RegistrationPart,
  registryDay,
} from "@vvs/registration";
import { shownExclusions } from "./exclusion.ts";
import { isOlder } from "./stale-data.ts";

/** Maximum age of exclusions that can settle what a registration's flag means, in days. */
export const FRESH_DAYS = 1;

const DAY_MS = 24 * 60 * 60_000;

/** The parts that the loaded files give of a vendor. */
export interface FileParts {
  readonly parts: Parts;
  /** An exclusions file is loaded, be it overdue or not. */
  readonly hasExclusionsFile: boolean;
  /**
   * Set where the files show that a part may have changed, but not how: a part that is dated at or before this time must
   * not be used.
   */
  readonly unknownSince: { readonly registration?: Date; readonly exclusions?: Date };
}

/**
 * Returns the parts that SAM.gov's files give: the registration as of the extract's cut date, and exclusions as of the
 * exclusions file's. A vendor that is not in the extract may have registered since, so its registration is unknown. A file
 * that is dated later than tomorrow is ignored.
 */
export function filePartsOf(files: RegistryAnswer, now: Date): FileParts {
  const registry = sourceOf("sam_gov_extract", files.registryCutDate, files.registryLoad, now);
  const exclusionsFile = sourceOf("sam_gov_exclusions", files.exclusionsCutDate, files.exclusionsLoad, now);
  const record = registry && files.record;
  const { part, unknownSince } = exclusionsOf(files, { registry, file: exclusionsFile, now });
  return {
    parts: {
      ...(record && { registration: registrationOf(record, registry) }),
      ...(part && { exclusions: part }),
    },
    hasExclusionsFile: exclusionsFile !== undefined,
    unknownSince: {
      ...(registry && !record && { registration: registry.date }),
      ...(unknownSince && { exclusions: unknownSince }),
    },
  };
}

/** Parts of earlier answers: each may be absent. */
export interface EarlierParts {
  /** Of the organization's stored answer. */
  readonly stored?: Parts | undefined;
  /** Of the answer that is kept for all. */
  readonly kept?: { readonly parts: Parts } | undefined;
}

/**
 * Returns the files as far as they can know the vendor. The exclusions file may list a vendor by its UEI only, so it shows
 * nothing about one that is known only by its CAGE and that the extract lacks, unless it names an exclusion.
 */
export function usableFor({ uei }: { uei: string }, files: RegistryAnswer): RegistryAnswer {
  return uei || files.record || files.exclusions.length > 0 ? files : { ...files, exclusionsCutDate: "" };
}

/** Returns the newest of each part among the files and earlier answers; exclusions with what explains a flag. */
export function partsOnFile(files: RegistryAnswer, { stored, kept }: EarlierParts, now: Date): Parts {
  const { parts, unknownSince } = filePartsOf(files, now);
  const { withdrawnLoads } = files;
  const isUsable = (part: PartSource, since: Date | undefined) =>
    isTrusted(part, { now, withdrawnLoads }) && !(since && part.date <= since);
  // Before the newest is chosen, since a part that may not be used must not hide an older one.
  const usable = ({ registration, exclusions: known }: Parts = {}): Parts => {
    const isOfFile = known?.origin === "sam_gov_exclusions" && known.load === files.exclusionsLoad;
    const exclusions = isOfFile ? known : asGiven(known);
    return {
      ...(registration && isUsable(registration, unknownSince.registration) && { registration }),
      ...(exclusions && isUsable(exclusions, unknownSince.exclusions) && { exclusions }),
    };
  };
  const newest = newestParts(newestParts(usable(kept?.parts), usable(stored)), parts);
  const [flag, named] = [newestFlag(newest), parts.exclusions];
  if (!flag) return withRowsWithoutUei(newest, files, now);
  const explained = named?.flagged === false && explainedBy(files, { flag, named, now });
  return withRowsWithoutUei({ ...newest, exclusions: explained || flag }, files, now);
}

/**
 * Returns parts whose exclusions have the newest file's rows without a UEI too, where SAM.gov's API gave them: it is asked by the
 * UEI, so it does not return these. They are then also of the file's load, so that they go when it is withdrawn.
 */
export function withRowsWithoutUei(parts: Parts, files: RegistryAnswer, now: Date): Parts {
  const { exclusions } = parts;
  const file = sourceOf("sam_gov_exclusions", files.exclusionsCutDate, files.exclusionsLoad, now);
  const rows = files.exclusions.filter(({ withoutUei }) => withoutUei);
  if (!file || rows.length === 0 || exclusions?.origin !== "sam_gov_api") return parts;
  const today = registryDay(now);
  const all = shownExclusions([...asGiven(exclusions).exclusions, ...exclusionsIn(rows, today)], today);
  return { ...parts, exclusions: { ...exclusions, load: file.load, exclusions: all } };
}

/**
 * Returns the flag that counts: that of the exclusions, or of a registration that is newer than the file that they come from,
 * such as after the withdrawal of the file that explained it.
 */
function newestFlag({ registration, exclusions }: Parts): ExclusionsPart | undefined {
  if (exclusions?.flagged) return exclusions;
  if (!registration?.flagged || exclusions?.origin === "sam_gov_api") return undefined;
  if (exclusions && exclusions.date >= registration.date) return undefined;
  const { origin, date, load, evidence_id } = registration;
  return { origin, date, load, ...(evidence_id && { evidence_id }), flagged: true, exclusions: [] };
}

/**
 * Returns the exclusions that the file names, where they decide what a flag means; undefined where they don't. They do if the
 * file was at most a day old when the flag was given, and has an exclusion that was in force then, or is today: a flag says
 * only that there were exclusions. They are as new as the flag, so that they replace it in a baseline.
 */
function explainedBy(
  { exclusions, endedExclusions }: RegistryAnswer,
  { flag, named, now }: { flag: PartSource; named: ExclusionsPart; now: Date },
): ExclusionsPart | undefined {
  const flaggedOn = dayOfPart(flag);
  const isFresh = dayOfPart(named) >= addDays(flaggedOn, -FRESH_DAYS);
  const rows = [...exclusions, ...endedExclusions.filter(({ endedOn }) => endedOn === "")].map(
    ({ activeDate, terminationDate }) => ({ active_date: activeDate, termination_date: terminationDate }),
  );
  const isNamed = [flaggedOn, registryDay(now)].some((day) => rows.some((row) => isInForce(row, day)));
  if (!isFresh || !isNamed) return undefined;
  return flag.date > named.date ? { ...named, date: flag.date } : named;
}

/**
 * Returns an answer's exclusions as SAM.gov's API gave them: without the rows of a file (`withRowsWithoutUei`), and as a flag where a
 * file decided what it means (`explainedBy`). Files are dated at midnight, so a later time is the flag's. Another file may decide
 * otherwise, also one that is older than the flag.
 */
function asGiven<Part extends ExclusionsPart | undefined>(part: Part): Part | ExclusionsPart {
  if (!part?.load) return part;
  if (part.origin === "sam_gov_api") {
    return { ...part, load: "", exclusions: part.exclusions.filter(({ without_uei }) => !without_uei) };
  }
  const isExplained = part.origin === "sam_gov_exclusions" && part.date.getTime() % DAY_MS > 0;
  return isExplained ? { origin: "sam_gov_api", date: part.date, load: "", flagged: true, exclusions: [] } : part;
}

/** Does the exclusions file decide what a flag of today means: is it fresh, and does it name an exclusion that is in force? */
export function isNamedIn(part: ExclusionsPart, now: Date): boolean {
  const isFresh = part.origin === "sam_gov_exclusions" && !isOlder(part, FRESH_DAYS, now);
  return isFresh && !part.flagged && effectInForce(part, registryDay(now)) !== undefined;
}

/** Returns the parts of a stored answer that came from no file. */
export function withoutFiles(stored: Parts = {}): Parts {
  const { registration } = stored;
  const exclusions = asGiven(stored.exclusions);
  return {
    ...(registration?.load === "" && { registration }),
    ...(exclusions?.load === "" && { exclusions }),
  };
}

function sourceOf(origin: string, cutDate: string, load: string, now: Date): PartSource | undefined {
  if (!cutDate) return undefined;
  const source = { origin, date: new Date(`${cutDate}T00:00:00Z`), load };
  return isTrusted(source, { now, withdrawnLoads: [] }) ? source : undefined;
}

const LISTED_AS: Readonly<Record<string, RegistrationPart["listed_as"]>> = { A: "active", E: "expired" };

/** Returns a row of the registry as a registration part. */
export function registrationOf(record: RegistryRecord, source: PartSource): RegistrationPart {
  return {
    ...source,
    listed_as: LISTED_AS[record.extractCode] ?? "inactive",
    id_only: record.idOnly,
    expiration_date: record.expirationDate,
    legal_name: record.legalName,
    cage: record.cage,
    entity_type: record.entityType,
  };
}

/** Returns the exclusions that the files list: at most 100. */
function exclusionsIn(exclusions: RegistryAnswer["exclusions"], today: string): Exclusion[] {
  const listed = exclusions.map(
    (row): Exclusion => ({
      ...exclusionFromMessage({ ...row, type: row.exclusionType }),
      ...(row.withoutUei && { without_uei: true }),
    }),
  );
  return shownExclusions(listed, today);
}

/**
 * Returns the exclusions part. The exclusions file decides where it explains the extract's flag, or there is none; without
 * such a file the flag decides. Where a newer file names no exclusion although the extract flags one, the exclusion has
 * ended if a file listed one that ended after the extract was cut; otherwise the two contradict each other, and exclusions
 * are unknown.
 */
function exclusionsOf(
  files: RegistryAnswer,
  { registry, file, now }: { registry: PartSource | undefined; file: PartSource | undefined; now: Date },
): { part?: ExclusionsPart; unknownSince?: Date } {
  const today = registryDay(now);
  const named = file && { ...file, flagged: false, exclusions: exclusionsIn(files.exclusions, today) };
  if (!registry || !files.record?.excluded) return { part: named };
  const flagged = { ...registry, flagged: true, exclusions: [] };
  if (!named) return { part: flagged };
  const explained = explainedBy(files, { flag: registry, named, now });
  if (explained) return { part: explained };
  if (named.date >= registry.date && hasEndedSince(files)) return { part: named };
  return named.date > registry.date ? { unknownSince: registry.date } : { part: flagged };
}

function hasEndedSince({ endedExclusions, registryCutDate }: RegistryAnswer): boolean {
  return endedExclusions.some(({ endedOn, terminationDate }) =>
    endedOn ? endedOn > registryCutDate : terminationDate >= registryCutDate,
  );
}
