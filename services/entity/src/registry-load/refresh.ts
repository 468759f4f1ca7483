import { rm } from "node:fs/promises";
import { addDays, registryDay } from "@vvs/registration";
import type { IsoDate } from "../model/dates.ts";
import type { LoadDocument } from "../model/documents.ts";
import { RULES } from "./facts-hash.ts";
import type { WantedFile } from "./files/download.ts";
import { RegistryFileError } from "./files/errors.ts";

type Kind = LoadDocument["kind"];

/** Days back from today for which an exclusions file is requested. Older ones answer nothing. */
const EXCLUSION_DAYS = 3;
/** For this long a loaded exclusions file suffices if SAM.gov has no newer one. It appears some hours after its day began. */
const EXCLUSIONS_SUFFICE_DAYS = 1;

/** Exit codes of the refresh. A scheduler need not repeat it after `needsOperator`. */
export const refreshExitCodes = { done: 0, needsOperator: 1, tryLater: 75 } as const;

export interface RefreshOptions {
  readonly kinds: readonly Kind[];
  readonly now: Date;
  /** Returns the newest loaded file of a kind. */
  readonly newestFile: (kind: Kind) => Promise<Pick<LoadDocument, "cut_date" | "rules"> | undefined>;
  /** Returns the path of the downloaded file. Errors: RegistryFileError. */
  readonly download: (wanted: WantedFile) => Promise<string>;
  /** Loads a file and prints its report. Errors: RegistryFileError. */
  readonly load: (kind: Kind, path: string) => Promise<void>;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

/**
 * Brings each kind of file up to date: downloads the newest one that SAM.gov has, unless it is loaded, loads it and removes
 * it. A kind that fails does not hold up the other. Returns the exit code; errors other than RegistryFileError are thrown.
 */
export async function refresh(options: RefreshOptions): Promise<number> {
  const codes: number[] = [];
  for (const kind of options.kinds) {
    try {
      await refreshKind(kind, options);
    } catch (error) {
      if (!(error instanceof RegistryFileError)) throw error;
      options.printError(`${kind}: ${error.message}`);
      codes.push(error.isTemporary ? refreshExitCodes.tryLater : refreshExitCodes.needsOperator);
    }
  }
  // Waiting does not help while a person is needed.
  return codes.includes(refreshExitCodes.needsOperator) ? refreshExitCodes.needsOperator : (codes[0] ?? 0);
}

async function refreshKind(kind: Kind, options: RefreshOptions): Promise<void> {
  const { print } = options;
  const today = registryDay(options.now);
  const file = await options.newestFile(kind);
  const newest = file?.cut_date;
  const isOutdated = file !== undefined && (file.rules ?? 0) < RULES[kind];
  for (const wanted of wantedFiles(kind, newest, today, { isOutdated })) {
    const path = await options.download(wanted).catch((error: unknown) => {
      if (error instanceof RegistryFileError && error.isMissing) return undefined;
      throw error;
    });
    if (path === undefined) continue;
    try {
      return await options.load(kind, path);
    } finally {
      await rm(path, { force: true });
    }
  }
  if (!newest || isOverdue(kind, newest, today)) {
    throw new RegistryFileError("SAM.gov has published no newer file yet", { isTemporary: true });
  }
  print(`${kind}: up to date (${newest})`);
}

/**
 * Returns the files that may be newer than the loaded one, newest first, and that one too if it was loaded by earlier rules
 * (`isOutdated`). Each request is a call of the key's quota, so none that cannot exist yet is among them.
 */
export function wantedFiles(
  kind: Kind,
  newest: IsoDate | undefined,
  today: IsoDate,
  { isOutdated }: { isOutdated: boolean } = { isOutdated: false },
): WantedFile[] {
  const isWanted = (date: string) => {
    const loaded = newest?.slice(0, date.length);
    return !loaded || date > loaded || (isOutdated && date === loaded);
  };
  if (kind === "exclusions") {
    const days = Array.from({ length: EXCLUSION_DAYS + 1 }, (_, age) => addDays(today, -age));
    return days.filter(isWanted).map((date) => ({ kind, date }));
  }
  const published = newestExtractDate(today);
  if (newest && newest >= published && !isOutdated) return [];
  const month = published.slice(0, 7);
  const before = addDays(`${month}-01`, -1).slice(0, 7);
  return [month, before].filter(isWanted).map((date) => ({ kind, date }));
}

/** Returns the day on which the newest extract should have been published: the first Sunday of a month. */
function newestExtractDate(today: IsoDate): IsoDate {
  const firstSundayOfMonth = (day: IsoDate): IsoDate => {
    const first = `${day.slice(0, 7)}-01`;
    return addDays(first, (7 - new Date(first).getUTCDay()) % 7);
  };
  const ofThisMonth = firstSundayOfMonth(today);
  return ofThisMonth <= today ? ofThisMonth : firstSundayOfMonth(addDays(`${today.slice(0, 7)}-01`, -1));
}

/** An extract of the newest month is never requested again, so one that is missing is late. */
function isOverdue(kind: Kind, newest: IsoDate, today: IsoDate): boolean {
  if (kind === "registry") return newest.slice(0, 7) < newestExtractDate(today).slice(0, 7);
  return newest < addDays(today, -EXCLUSIONS_SUFFICE_DAYS);
}
