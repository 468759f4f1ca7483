import { basename } from "node:path";
import { type Attributes, metrics } from "@opentelemetry/api";
import { type Collections, LOAD_KINDS, type LoadDocument } from "../model/documents.ts";
import { NEWEST_LOAD_FIRST } from "../model/exclusions.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { LoadedFile } from "./files/member.ts";

/** Minimum share of the newest file's rows: few vendors and exclusions leave a registry from file to file. */
const LEAST_SHARE = 0.8;
/** Only files with at least this many rows are compared. */
const LEAST_TO_COMPARE = 1_000;
/** Time for which a refusal is reported, unless a file is loaded or refused meanwhile. */
const REPORTED_MS = 48 * 60 * 60 * 1_000;
const QUERY_MS = 5_000;

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

/** Reports the refusals of the last 48 hours whenever metrics are collected. Returns a function that ends it. */
export function observeRefusals({ loads }: Pick<Collections, "loads">, now: () => Date): () => void {
  const refused = metrics.getMeter("entity").createObservableGauge("entity_registry_file_refused", {
    description:
      "1 where the last file of a kind (registry, exclusions) was refused in the last 48 hours and none was loaded since, with the reason. The older file stays in force until it is too old.",
  });
  const reported = new Map<string, Attributes>();
  const observe: Parameters<typeof refused.addCallback>[0] = async (result) => {
    const since = new Date(now().getTime() - REPORTED_MS);
    const recent = { state: "refused" as const, started_at: { $gt: since } };
    const found = await loads.find(recent, { maxTimeMS: QUERY_MS }).toArray();
    // OpenTelemetry exports the last value again when there is no new one.
    for (const attributes of [...LOAD_KINDS.map((file) => ({ file })), ...reported.values()])
      result.observe(0, attributes);
    for (const { kind, refusal = "" } of found) {
      const attributes = { file: kind, reason: refusal };
      reported.set(`${kind} ${refusal}`, attributes);
      result.observe(1, attributes);
    }
  };
  refused.addCallback(observe);
  return () => refused.removeCallback(observe);
}
