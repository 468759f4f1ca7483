import type { Collections, LoadDocument } from "../model/documents.ts";
import { type ChangeSummary, findLoad, listChanges, summarizeChanges } from "./change-log.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { LoadReport } from "./load-log.ts";
import type { WithdrawalReport } from "./withdraw.ts";

// What the operator's command prints of loads, tab-separated where a line is for one thing.

type Print = (line: string) => void;

/** The loads so far, newest first. */
export async function printLoads({ loads }: Collections, print: Print): Promise<void> {
  for await (const load of loads.find().sort({ started_at: -1 }).limit(100)) {
    const counts = load.counts ? listed(load.counts) : "";
    const columns = [load._id, load.file_name, load.cut_date, load.state, load.started_at.toISOString(), counts];
    const { at, by, reason, finished_at } = load.withdrawn ?? {};
    const withdrawn = at ? [`${at.toISOString()} by ${by}: ${reason}${finished_at ? "" : " (not finished)"}`] : [];
    print([...columns, ...withdrawn].join("\t"));
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

/** What a withdrawal came to, and what is to be done next. */
export function printWithdrawal({ load, counts, previous }: WithdrawalReport, print: Print): void {
  print(`withdrawn ${load.kind} ${load.file_name} (${load.cut_date}): ${listed(counts)}`);
  const next = previous ? `the previous file again: ${previous.file_name} (${previous.cut_date})` : "another file";
  print(`load ${next}, or a newer one: npm run registry -- load --${load.kind} FILE`);
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

/** Errors: RegistryFileError for a load that there is none of. */
export async function loadNamed(collections: Collections, named: string): Promise<LoadDocument> {
  const load = await findLoad(collections, named);
  if (!load)
    throw new RegistryFileError(`No load, or more than one, is named ${named}; the command "loads" lists them`);
  return load;
}
