import { basename } from "node:path";
import type { Collections, LoadDocument } from "../model/documents.ts";
import { NEWEST_LOAD_FIRST } from "../model/exclusions.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { LoadedFile } from "./files/member.ts";

/** Minimum share of the newest file's rows: few vendors and exclusions leave a registry from file to file. */
const LEAST_SHARE = 0.8;
/** Only files with at least this many rows are compared. */
const LEAST_TO_COMPARE = 1_000;

/** Returns the id of the record of the last refused file of a kind, which is removed once a file is loaded. */
export function refusalId(kind: LoadDocument["kind"]): string {
  return `${kind}:refused`;
}

/**
 * Returns a function that does work and records the RegistryFileError by which it refuses the file, for the alert and the
 * list of loads.
 */
export function recordingRefusals(options: {
  loads: Collections["loads"];
  kind: LoadDocument["kind"];
  path: string;
  now: () => Date;
}) {
  const { loads, kind, path, now } = options;
  const refused = (error: RegistryFileError): Omit<LoadDocument, "_id"> => ({
    kind,
    state: "refused",
    file_name: basename(path),
    sha256: "",
    cut_date: "",
    complete: false,
    started_at: now(),
    refusal: error.message,
  });
  return async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RegistryFileError && !isAbsent(error)) {
        await loads.replaceOne({ _id: refusalId(kind) }, refused(error), { upsert: true });
      }
      throw error;
    }
  };
}

function isAbsent({ cause }: RegistryFileError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

/**
 * Rows and vendors that a complete file lacks have ended, so half a file would clear vendors that are excluded. Errors:
 * RegistryFileError.
 */
export async function refuseShrunken(
  { loads }: Pick<Collections, "loads">,
  kind: LoadDocument["kind"],
  { fileName, cutDate, rows, isComplete }: LoadedFile,
): Promise<void> {
  if (!isComplete) return;
  const newest = await loads.findOne({ kind, state: "done", complete: true }, { sort: NEWEST_LOAD_FIRST });
  const known = newest?.counts?.rows ?? 0;
  if (!newest || cutDate < newest.cut_date || known < LEAST_TO_COMPARE || rows >= known * LEAST_SHARE) return;
  throw new RegistryFileError(
    `${fileName} has ${rows} rows, ${newest.file_name} had ${known}: it looks truncated, and what a file lacks has ` +
      "ended. If it is right, load it with --accept-fewer",
  );
}
