import { fromCompactDate, type IsoDate } from "../../model/dates.ts";
import { RegistryFileError } from "./errors.ts";

/** The content of the first (`BOF`) and last (`EOF`) line of a public extract. */
export interface ExtractHeader {
  cutDate: IsoDate;
  rows: number;
  sequence: number;
}

const v2Line = /^(BOF|EOF) PUBLIC V2 0{8} (\d{8}) (\d{1,10}) (\d{1,10})\s*$/;

/**
 * Reads a line `BOF PUBLIC V2 00000000 <YYYYMMDD> <rows> <sequence>`, or the `EOF` line of the same form (GSA's Public
 * Extract V2 layout). Errors: RegistryFileError, which says what the line is instead.
 */
export function parseHeader(line: string, marker: "BOF" | "EOF", fileName: string): ExtractHeader {
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
