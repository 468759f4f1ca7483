import { parseArgs } from "node:util";
import { registryDay } from "@vvs/registration";
import { type Environment, environments } from "@vvs/tenant";
import { fromExclusionsDate } from "../model/dates.ts";
import { LOAD_KINDS } from "../model/documents.ts";
import type { WantedFile } from "./files/download.ts";

const USAGE = `Usage:
  npm run registry -- download registry|exclusions [--date YYYY-MM|YYYY-MM-DD] [--to DIRECTORY]
      downloads a month's registry extract or a day's exclusions from SAM.gov with SAM_GOV_API_KEY and prints the path;
      without a date, the current one
  npm run registry -- refresh registry|exclusions [registry|exclusions] [--to DIRECTORY] [--accept-fewer]
      downloads the newest file that is not loaded yet, if there is one, loads it and removes it; the exit code is 0 if
      the newest file is loaded, 75 if SAM.gov has none or does not answer now, 1 if a person is needed
  npm run registry -- load [--registry FILE] [--exclusions FILE] [--accept-fewer]
      loads a SAM public extract (.dat or .ZIP) and an exclusions file (.csv or .ZIP) into live; the sandbox keeps its
      made-up registry. Without --accept-fewer, a complete file with far fewer rows than the one before is refused
  npm run registry -- withdraw LOAD --reason "…"
      withdraws the newest load of its kind: its facts no longer count, and the file before can be loaded again
  npm run registry -- loads
      lists the loaded files, newest first, who withdrew which and why, and the last one that was refused
  npm run registry -- changes LOAD
      lists the entities that a load changed, and the fields; LOAD is its id, the beginning of its id, or a file name
  npm run registry -- quarantine LOAD
      lists the rows that a load did not apply, with their lines and reasons
  npm run registry -- plan [--monitored N]
      says what asking SAM.gov's API costs if all vendors, or N of them, are monitored daily, and which quota that fits
  npm run registry -- verify-snapshots [--environment live|sandbox] [--entity ent_…]
      recomputes the chains of snapshots and lists the broken ones`;

/** Says how to use the command. */
export class UsageError extends Error {}

export type RegistryCommand = { readonly environment: Environment } & (
  | { readonly name: "download"; readonly wanted: WantedFile; readonly directory: string }
  | {
      readonly name: "refresh";
      readonly kinds: readonly WantedFile["kind"][];
      readonly directory: string;
      readonly acceptFewer: boolean;
    }
  | { readonly name: "load"; readonly registry?: string; readonly exclusions?: string; readonly acceptFewer: boolean }
  | { readonly name: "withdraw"; readonly load: string; readonly reason: string }
  | { readonly name: "loads" }
  | { readonly name: "changes"; readonly load: string }
  | { readonly name: "quarantine"; readonly load: string }
  | { readonly name: "plan"; readonly monitored: number | undefined }
  | { readonly name: "verify-snapshots"; readonly entity: string | undefined }
);

/** Parses a command line. Errors: UsageError. */
export function parseCommand(args: string[], now: Date): RegistryCommand {
  const { positionals, values } = readArgs(args);
  const [name, operand, ...more] = positionals;
  const environment = environments.find((one) => one === values.environment);
  if (!environment || (more.length > 0 && name !== "refresh")) throw new UsageError(USAGE);
  if (name === "refresh") return refreshCommand(environment, positionals.slice(1), values);
  if (name === "download" && operand) {
    return { environment, name, wanted: wantedFile(operand, values.date, now), directory: values.to };
  }
  if ((name === "changes" || name === "quarantine") && operand) return { environment, name, load: operand };
  const reason = values.reason?.trim();
  if (name === "withdraw" && operand && reason) return { environment, name, load: operand, reason };
  if (operand !== undefined) throw new UsageError(USAGE);
  if (name === "loads") return { environment, name };
  if (name === "plan") return { environment, name, monitored: monitoredCount(values.monitored) };
  if (name === "verify-snapshots") return { environment, name, entity: values.entity };
  const { registry, exclusions } = values;
  if (name !== "load" || (!registry && !exclusions)) throw new UsageError(USAGE);
  if (environment !== "live") {
    throw new UsageError("The sandbox keeps its made-up registry: files are loaded into live.");
  }
  const acceptFewer = values["accept-fewer"];
  return { environment, name, ...(registry && { registry }), ...(exclusions && { exclusions }), acceptFewer };
}

function refreshCommand(
  environment: Environment,
  given: readonly string[],
  values: { readonly to: string; readonly "accept-fewer": boolean },
): RegistryCommand {
  const kinds = LOAD_KINDS.filter((kind) => given.includes(kind));
  if (environment !== "live" || kinds.length === 0 || kinds.length !== given.length) throw new UsageError(USAGE);
  return { environment, name: "refresh", kinds, directory: values.to, acceptFewer: values["accept-fewer"] };
}

function readArgs(args: string[]) {
  const options = {
    environment: { type: "string", default: "live" },
    registry: { type: "string" },
    exclusions: { type: "string" },
    "accept-fewer": { type: "boolean", default: false },
    entity: { type: "string" },
    monitored: { type: "string" },
    reason: { type: "string" },
    date: { type: "string" },
    to: { type: "string", default: "." },
  } as const;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}

function monitoredCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(USAGE);
  return Number(text);
}

function wantedFile(kind: string, date = "", now: Date): WantedFile {
  const day = date || registryDay(now);
  if (kind === "registry" && /^\d{4}-(0[1-9]|1[0-2])(-\d\d)?$/.test(day)) return { kind, date: day.slice(0, 7) };
  if (kind === "exclusions" && fromExclusionsDate(day) === day) return { kind, date: day };
  throw new UsageError(USAGE);
}
