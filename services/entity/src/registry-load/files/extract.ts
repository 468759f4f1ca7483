import { basename } from "node:path";
import { fromCompactDate, type IsoDate } from "../../model/dates.ts";
import { RegistryFileError } from "./errors.ts";
import { type LoadedFile, openMember, type Parsed, sha256OfFile } from "./member.ts";
import type { OnProgress } from "./progress-display.ts";
import { readRecords } from "./records.ts";
import { type ExtractRow, parseRow } from "./row.ts";
import { createRowTally } from "./row-tally.ts";
import { createUeiCollector, type UeiSet } from "./uei-set.ts";

/** A public extract that was read to its end and is sound. */
export interface ExtractFile extends LoadedFile {
  /** UEIs of the good rows. Adjacent rows of one entity count once, so a repeated UEI has rows in several places. */
  ueis: UeiSet;
}

/** A row or the reason why it can't be trusted. `lineNumber` is 1-based; the header is line 1. */
export type ExtractItem = { readonly lineNumber: number } & Parsed<ExtractRow>;

/** The content of the first (`BOF`) and last (`EOF`) line of a public extract. */
interface ExtractHeader {
  cutDate: IsoDate;
  rows: number;
  sequence: number;
}

const v2Line = /^(BOF|EOF) PUBLIC V2 0{8} (\d{8}) (\d{1,10}) (\d{1,10})\s*$/;

/**
 * Reads a whole SAM public extract V2 (`.dat`, or a ZIP with exactly one) and checks that its header, rows and trailer
 * agree, so that a truncated download is never loaded, and that few rows can't be read. Memory: 8 bytes per entity. Errors: RegistryFileError with the reason why the file must not be loaded.
 */
export async function validateExtract(path: string, onProgress: OnProgress = () => {}): Promise<ExtractFile> {
  const fileName = basename(path);
  const sha256 = await sha256OfFile(path);
  const member = await openMember(path, ".dat");
  const ueis = createUeiCollector();
  const tally = createRowTally();
  let header: ExtractHeader | undefined;
  let trailer: ExtractHeader | undefined;
  let [rows, isComplete, lastUei] = [0, true, ""];
  for await (const records of readRecords(member)) {
    onProgress({ phase: "checking", done: member.readBytes, total: member.size });
    for (const { lineNumber, text } of records) {
      if (!header) header = parseHeader(text, "BOF", fileName);
      else if (trailer) throw new RegistryFileError(`${fileName} goes on after its EOF line, at line ${lineNumber}`);
      else if (isTrailer(text)) trailer = parseHeader(text, "EOF", fileName);
      else {
        const { row, reason } = parseRow(text);
        rows++;
        tally.add(lineNumber, reason);
        if (!row) continue;
        if (row.uei !== lastUei) ueis.add(row.uei);
        lastUei = row.uei;
        if (!"AE".includes(row.extractCode)) isComplete = false;
      }
    }
  }
  if (!header) throw new RegistryFileError(`${fileName} is empty`);
  checkCounts(fileName, header, trailer, rows);
  tally.finish(fileName);
  return { fileName, ...header, sha256, isComplete, ueis: ueis.finish() };
}

/**
 * Reads the rows of a SAM public extract V2 that validateExtract has accepted, in the groups in which they are read, in
 * constant memory. An entity may have several rows, which need not be adjacent.
 */
export async function* readExtract(path: string): AsyncGenerator<ExtractItem[]> {
  const member = await openMember(path, ".dat");
  let isFirst = true;
  for await (const records of readRecords(member)) {
    const rows = records.slice(isFirst ? 1 : 0).filter(({ text }) => !isTrailer(text));
    isFirst &&= records.length === 0;
    yield rows.map(({ lineNumber, text }) => ({ lineNumber, ...parseRow(text) }));
  }
}

function isTrailer(text: string): boolean {
  return text.startsWith("EOF ");
}

function checkCounts(fileName: string, header: ExtractHeader, trailer: ExtractHeader | undefined, rows: number): void {
  if (header.rows !== rows) {
    const rest = trailer ? "" : " and no EOF line: it is truncated";
    throw new RegistryFileError(`${fileName}: the header promises ${header.rows} rows, the file has ${rows}${rest}`);
  }
  if (!trailer) throw new RegistryFileError(`${fileName} has no EOF line: it is truncated`);
  for (const name of ["rows", "cutDate", "sequence"] as const) {
    if (header[name] === trailer[name]) continue;
    throw new RegistryFileError(
      `${fileName}: its BOF and EOF lines disagree on ${name} (${header[name]} and ${trailer[name]})`,
    );
  }
}

/**
 * Reads a line `BOF PUBLIC V2 00000000 <YYYYMMDD> <rows> <sequence>`, or the `EOF` line of the same form (GSA's Public
 * Extract V2 layout). Errors: RegistryFileError, which says what the line is instead.
 */
function parseHeader(line: string, marker: "BOF" | "EOF", fileName: string): ExtractHeader {
  const match = v2Line.exec(line);
  const cutDate = match && fromCompactDate(match[2]!);
  if (match?.[1] === marker && cutDate) return { cutDate, rows: Number(match[3]), sequence: Number(match[4]) };
  throw new RegistryFileError(`${fileName} ${complaint(line, marker)}`);
}

function complaint(line: string, marker: "BOF" | "EOF"): string {
  if (/^(BOF|EOF) (PUBLIC|FOUO|SENSITIVE) 0{8} \d{8}/.test(line)) {
    return "has the old V1 layout (150 fields, DUNS first); the V2 layout is needed";
  }
  const other = /^(?:BOF|EOF) (FOUO|SENSITIVE) V2/.exec(line)?.[1];
  if (other) return `is a ${other} extract; the PUBLIC extract is needed`;
  const where = marker === "BOF" ? "starts" : "ends";
  return `is not a SAM public extract V2: it ${where} without a line "${marker} PUBLIC V2 00000000 YYYYMMDD rows sequence"`;
}
