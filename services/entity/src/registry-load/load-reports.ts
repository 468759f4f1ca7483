import type { Collections, LoadChanges, LoadDocument } from "../model/documents.ts";
import { findLoad, listChanges, summarizeChanges } from "./change-log.ts";
import type { LoadReport } from "./load-log.ts";
import type { WithdrawalReport } from "./withdraw.ts";

// What the operator's commands print about loads; lines about one thing are tab-separated.

type Print = (line: string) => void;

/** Prints the loads so far, newest first. */
export async function printLoads({ loads }: Collections, print: Print): Promise<void> {
  for await (const load of loads.find().sort({ started_at: -1 }).limit(100)) {
    const counts = load.counts ? listed(load.counts) : (load.refusal ?? "");
    const columns = [load._id, load.file_name, load.cut_date, load.state, load.started_at.toISOString(), counts];
    const { at, by, reason, finished_at } = load.withdrawn ?? {};
    const withdrawn = at ? [`${at.toISOString()} by ${by}: ${reason}${finished_at ? "" : " (not finished)"}`] : [];
    print([...columns, ...withdrawn].join("\t"));
  }
}

/** Prints what a load changed, entity by entity, and a summary. Errors: RegistryFileError if there is no such load. */
export async function printChanges(collections: Collections, name: string, print: Print): Promise<void> {
  const { _id } = await findLoad(collections, name);
  for await (const { kind, entityId, uei, version, fields } of listChanges(collections, _id)) {
    print([kind, entityId, uei, version === undefined ? "" : `version ${version}`, fields.join(", ")].join("\t"));
  }
  print(summaryText(await summarizeChanges(collections, _id)));
}

/** Prints the rows of a file that were not applied. Errors: RegistryFileError if there is no such load. */
export async function printQuarantine(collections: Collections, name: string, print: Print): Promise<void> {
  const { _id } = await findLoad(collections, name);
  for await (const { line_number, reason } of collections.quarantine.find({ load_id: _id }).sort({ line_number: 1 })) {
    print(`line ${line_number}\t${reason}`);
  }
}

/** Prints the result of a load. */
export function printReport(kind: LoadDocument["kind"], report: LoadReport, print: Print): void {
  const { loadId, fileName, cutDate, isOlder, counts, changes } = report;
  const older = isOlder ? " is older than what is loaded, nothing was applied" : "";
  print(`${kind} ${fileName} (${cutDate})${older}: ${listed(counts)}`);
  print(`load ${loadId}: ${summaryText(changes)}`);
}

/** Prints the result of a withdrawal, and what to do next. */
export function printWithdrawal({ load, counts, previous }: WithdrawalReport, print: Print): void {
  print(`withdrawn ${load.kind} ${load.file_name} (${load.cut_date}): ${listed(counts)}`);
  const next = previous ? `the previous file again: ${previous.file_name} (${previous.cut_date})` : "another file";
  print(`load ${next}, or a newer one: npm run registry -- load --${load.kind} FILE`);
}

/** "added 2, changed 3 (legal_name 2, addresses 1), gone 1" */
function summaryText({ added, changed, gone, fields }: LoadChanges): string {
  const byField = fields.map(({ field, count }) => `${field} ${count}`).join(", ");
  return `added ${added}, changed ${changed}${byField && ` (${byField})`}, gone ${gone}`;
}

/** "rows 2, new 1" */
function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
