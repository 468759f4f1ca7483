import { rm } from "node:fs/promises";
import { dateOf, type IsoDate } from "../model/dates.ts";
import type { LoadDocument } from "../model/documents.ts";
import type { WantedFile } from "./files/download.ts";
import { RegistryFileError } from "./files/errors.ts";

type Kind = LoadDocument["kind"];

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Days back from today for which an exclusions file is requested. Older ones answer nothing. */
const EXCLUSION_DAYS = 3;
/** For this long a loaded exclusions file suffices if SAM.gov has no newer one. Its day begins hours after ours. */
const EXCLUSIONS_SUFFICE_DAYS = 1;

/** Exit codes of the refresh. A scheduler need not repeat it after `needsOperator`. */
export const refreshExitCodes = { done: 0, needsOperator: 1, tryLater: 75 } as const;

export interface RefreshOptions {
  readonly kinds: readonly Kind[];
  readonly now: Date;
  /** Returns the cut date of the newest loaded file of a kind. */
  readonly newestCutDate: (kind: Kind) => Promise<IsoDate | undefined>;
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
  const { now, print } = options;
  const newest = await options.newestCutDate(kind);
  for (const wanted of wantedFiles(kind, newest, now)) {
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
  if (!newest || isOverdue(kind, newest, now)) {
    throw new RegistryFileError("SAM.gov has published no newer file yet", { isTemporary: true });
  }
  print(`${kind}: up to date (${newest})`);
}

/**
 * Returns the files that may be newer than the loaded one, newest first. Each request is a call of the key's quota, so none
 * that cannot exist yet is among them.
 */
export function wantedFiles(kind: Kind, newest: IsoDate | undefined, now: Date): WantedFile[] {
  if (kind === "exclusions") {
    const days = Array.from({ length: EXCLUSION_DAYS + 1 }, (_, age) => dateOf(new Date(now.getTime() - age * DAY_MS)));
    return days.filter((date) => !newest || date > newest).map((date) => ({ kind, date }));
  }
  const published = newestExtractDate(now);
  if (newest && newest >= published) return [];
  const month = published.slice(0, 7);
  const before = dateOf(new Date(Date.parse(`${month}-01`) - DAY_MS)).slice(0, 7);
  return [month, before].filter((date) => !newest || date > newest.slice(0, 7)).map((date) => ({ kind, date }));
}

/** Returns the day on which the newest extract should have been published: the first Sunday of a month. */
function newestExtractDate(now: Date): IsoDate {
  const firstSunday = (year: number, month: number): Date => {
    const first = new Date(Date.UTC(year, month, 1));
    return new Date(first.getTime() + ((7 - first.getUTCDay()) % 7) * DAY_MS);
  };
  const ofThisMonth = firstSunday(now.getUTCFullYear(), now.getUTCMonth());
  return dateOf(ofThisMonth <= now ? ofThisMonth : firstSunday(now.getUTCFullYear(), now.getUTCMonth() - 1));
}

/** An extract of the newest month is never requested again, so one that is missing is late. */
function isOverdue(kind: Kind, newest: IsoDate, now: Date): boolean {
  if (kind === "registry") return newest.slice(0, 7) < newestExtractDate(now).slice(0, 7);
  return newest < dateOf(new Date(now.getTime() - EXCLUSIONS_SUFFICE_DAYS * DAY_MS));
}
