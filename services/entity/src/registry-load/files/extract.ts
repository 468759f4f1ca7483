import { basename } from "node:path";
import type { IsoDate } from "../../model/dates.ts";
import type { OnProgress } from "../progress.ts";
import { createUeiCollector, type UeiSet } from "../uei-set.ts";
import { RegistryFileError } from "./errors.ts";
import { type ExtractHeader, parseHeader } from "./header.ts";
import { openMember, sha256OfFile } from "./member.ts";
import { readRecords } from "./records.ts";
import { type ExtractRow, parseRow } from "./row.ts";

/** What is known of a public extract that was read to its end and found whole. */
export interface ExtractFile {
  fileName: string;
  /** The day whose state of the registry the file holds. */
  cutDate: IsoDate;
  rows: number;
  sequence: number;
  /** SHA-256, in hex, of the file as given (of the ZIP, where it is one). */
  sha256: string;
  /** Does it hold the whole registry? A daily file has rows of codes 1 to 4, and what it lacks has not changed. */
  isComplete: boolean;
  /** Of the good rows, neighbouring ones of one entity counted once: so the repeated are scattered over the file. */
  ueis: UeiSet;
}

/** A row that was read, or one that can't be trusted and why. `lineNumber` is 1-based; the header is line 1. */
export type ExtractItem =
  | { kind: "row"; lineNumber: number; row: ExtractRow }
  | { kind: "bad"; lineNumber: number; reason: string };

/**
 * Reads a whole SAM public extract V2 (`.dat`, or a ZIP with exactly one) and checks that its header, its rows and its
 * trailer agree, so that a truncated download is never loaded. Rows that are bad by themselves do not count against
 * the file, unless they are more than the good ones. It keeps 8 bytes per entity.
 *
 * @throws RegistryFileError saying why the file must not be loaded.
 */
export async function validateExtract(path: string, onProgress: OnProgress = () => {}): Promise<ExtractFile> {
  const fileName = basename(path);
  const member = await openMember(path, ".dat");
  let header: ExtractHeader | undefined;
  let trailer: ExtractHeader | undefined;
  const survey = createSurvey();
  for await (const records of readRecords(member)) {
    onProgress({ phase: "checking", done: member.readBytes, total: member.size });
    for (const { lineNumber, text } of records) {
      if (!header) header = parseHeader(text, "BOF", fileName);
      else if (trailer) throw new RegistryFileError(`${fileName} goes on after its EOF line, at line ${lineNumber}`);
      else if (isTrailer(text)) trailer = parseHeader(text, "EOF", fileName);
      else survey.add(lineNumber, text);
    }
  }
  if (!header) throw new RegistryFileError(`${fileName} is empty`);
  const { good, bad, firstReason, ...rest } = survey.finish();
  checkCounts(fileName, header, trailer, good + bad);
  if (bad > 0 && good === 0) throw new RegistryFileError(`${fileName} holds no row of the V2 layout (${firstReason})`);
  if (bad > good)
    throw new RegistryFileError(`${fileName} holds ${bad} bad rows and ${good} good ones (${firstReason})`);
  return { fileName, ...header, sha256: await sha256OfFile(path), ...rest };
}

/**
 * The rows of a SAM public extract V2, one after the other, in the groups that they are read in and in constant memory.
 * Several rows may be of one entity, and need not be adjacent. Meant for a file that {@link validateExtract} accepted.
 */
export async function* readExtract(path: string): AsyncGenerator<ExtractItem[]> {
  const member = await openMember(path, ".dat");
  let isFirst = true;
  for await (const records of readRecords(member)) {
    const items: ExtractItem[] = [];
    for (const { lineNumber, text } of records) {
      if (isFirst) {
        parseHeader(text, "BOF", basename(path));
        isFirst = false;
      } else if (!isTrailer(text)) {
        const parsed = parseRow(text);
        if ("row" in parsed) items.push({ kind: "row", lineNumber, row: parsed.row });
        else items.push({ kind: "bad", lineNumber, reason: parsed.reason });
      }
    }
    yield items;
  }
}

function isTrailer(text: string): boolean {
  return text.startsWith("EOF ");
}

function createSurvey() {
  const collector = createUeiCollector();
  let last = "";
  let isComplete = true;
  let good = 0;
  let bad = 0;
  let firstReason = "";
  return {
    add(lineNumber: number, text: string) {
      const parsed = parseRow(text);
      if ("reason" in parsed) {
        bad++;
        firstReason ||= `line ${lineNumber}: ${parsed.reason}`;
        return;
      }
      good++;
      const { uei, extractCode } = parsed.row;
      if (uei !== last) collector.add(uei);
      last = uei;
      if (extractCode !== "A" && extractCode !== "E") isComplete = false;
    },
    finish: () => ({ good, bad, firstReason, isComplete, ueis: collector.finish() }),
  };
}

function checkCounts(fileName: string, header: ExtractHeader, trailer: ExtractHeader | undefined, rows: number): void {
  if (header.rows !== rows) {
    const rest = trailer ? "" : " and no EOF line: it is truncated";
    throw new RegistryFileError(`${fileName}: the header promises ${header.rows} rows, the file holds ${rows}${rest}`);
  }
  if (!trailer) throw new RegistryFileError(`${fileName} has no EOF line: it is truncated`);
  for (const name of ["rows", "cutDate", "sequence"] as const) {
    if (header[name] === trailer[name]) continue;
    throw new RegistryFileError(
      `${fileName}: its BOF and EOF lines disagree on ${name} (${header[name]} and ${trailer[name]})`,
    );
  }
}
