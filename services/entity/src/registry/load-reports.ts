import type { Collections, LoadDocument } from "../documents.ts";
import { type ChangeSummary, findLoad, listChanges, summarizeChanges } from "./change-log.ts";
import { RegistryFileError } from "./errors.ts";
import type { LoadReport } from "./load-log.ts";

// What the operator's command prints of loads, tab-separated where a line is for one thing.

type Print = (line: string) => void;

/** The loads so far, newest first. */
export async function printLoads({ loads }: Collections, print: Print): Promise<void> {
  for await (const load of loads.find().sort({ started_at: -1 }).limit(100)) {
    const counts = load.counts ? listed(load.counts) : "";
    const columns = [load._id, load.file_name, load.cut_date, load.state, load.started_at.toISOString(), counts];
    print(columns.join("\t"));
  }
}

/** What a load changed, entity by entity, and in all. Errors: RegistryFileError for a load that there is none of. */
export async function printChanges(collections: Collections, named: string, print: Print): Promise<void> {
  const { _id } = await loadNamed(collections, named);
  for await (const { kind, entityId, uei, version, fields } of listChanges(collections, _id)) {
    print([kind, entityId, uei, version === undefined ? "" : `version ${version}`, fields.join(", ")].join("\t"));
  }
  print(summaryText(await summarizeChanges(collections, _id)));
}

/** The rows of a file that were not applied. Errors: RegistryFileError for a load that there is none of. */
export async function printQuarantine(collections: Collections, named: string, print: Print): Promise<void> {
  const { _id } = await loadNamed(collections, named);
  for await (const { line_number, reason } of collections.quarantine.find({ load_id: _id }).sort({ line_number: 1 })) {
    print(`line ${line_number}\t${reason}`);
  }
}

/** What a load came to. */
export function printReport(kind: LoadDocument["kind"], report: LoadReport<string>, print: Print): void {
  const { loadId, fileName, cutDate, isOlder, counts, changes } = report;
  const older = isOlder ? " is older than what is loaded, nothing was applied" : "";
  print(`${kind} ${fileName} (${cutDate})${older}: ${listed(counts)}`);
  print(`load ${loadId}: ${summaryText(changes)}`);
}

/** "added 2, changed 3 (legal_name 2, addresses 1), gone 1" */
function summaryText({ added, changed, gone, fields }: ChangeSummary): string {
  const byField = fields.map(({ field, count }) => `${field} ${count}`).join(", ");
  return `added ${added}, changed ${changed}${byField && ` (${byField})`}, gone ${gone}`;
}

/** "rows 2, new 1" */
function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

async function loadNamed(collections: Collections, named: string): Promise<LoadDocument> {
  const load = await findLoad(collections, named);
  if (!load)
    throw new RegistryFileError(`No load, or more than one, is named ${named}; the command "loads" lists them`);
  return load;
}
