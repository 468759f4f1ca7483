import { readFileSync } from "node:fs";
import type { VerifyRequest } from "@vendor-verification/client";
import { parse } from "csv-parse/sync";
import type { Check, Mode } from "../checks.ts";
import { UsageError } from "../exit-codes.ts";
import { type Identifiers, identifierTypes } from "../identifiers.ts";

/** A CSV file of vendors. */
export interface VendorFile {
  readonly header: readonly string[];
  readonly rows: readonly Row[];
  readonly delimiter: string;
  /** Does the file begin with a byte order mark? Spreadsheets need it to recognize UTF-8. */
  readonly hasBom: boolean;
  /** Index of the column with TINs; -1 without one. */
  readonly tinColumn: number;
  /** Is there a column with vendor numbers? */
  readonly hasNumbers: boolean;
}

export interface Row {
  readonly cells: readonly string[];
  /** Who is to be verified, or why that is unclear. */
  readonly vendor: Vendor | { readonly problem: string };
  /** The organization's own number of the vendor; absent where the row has none. */
  readonly vendorNumber?: string | undefined;
}

export type Vendor =
  | { readonly entity_id: string }
  | { readonly identifiers: Identifiers; readonly legal_name?: string | undefined };

const MAX_BYTES = 50_000_000;
const columns: readonly string[] = ["entity_id", ...identifierTypes, "legal_name"];
/** Names of the column with the organization's own numbers of vendors. */
const numberColumns = ["vendor_number", "external_id"];
const delimiters = [",", ";", "\t"];

/** Reads a file of vendors. Errors: UsageError if it cannot be read or has none of the columns. */
export function readVendorFile(file: string): VendorFile {
  return parseVendors(readText(file), file);
}

/** Reads CSV text. `file` names it in errors. Errors: UsageError. */
export function parseVendors(text: string, file: string): VendorFile {
  const firstLine = text.slice(0, text.search(/[\r\n]|$/));
  const delimiter = delimiters.toSorted(
    (one, other) => firstLine.split(other).length - firstLine.split(one).length,
  )[0]!;
  const [header, ...rows] = parseCells(text, delimiter, file);
  if (!header) throw new UsageError(`${file} is empty. Its first line must name the columns.`);
  const names = header.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, "_"),
  );
  const used = [...columns, ...numberColumns];
  const places = new Map(used.map((column) => [column, names.indexOf(column)]));
  const twice = used.find((column) => names.indexOf(column) !== names.lastIndexOf(column));
  if (twice) throw new UsageError(`${file} has two columns ${twice}.`);
  const numberColumn = numberColumns.find((column) => names.includes(column));
  if (!columns.some((column) => names.includes(column) && column !== "legal_name")) {
    throw new UsageError(
      `${file} has none of the columns ${columns.slice(0, -1).join(", ")}. Name one in the first line.`,
    );
  }
  const cell = (cells: readonly string[], column: string) => cells[places.get(column)!]?.trim() || undefined;
  return {
    header,
    rows: rows.map((cells) => ({
      cells,
      vendor: vendorOf((column) => cell(cells, column)),
      ...(numberColumn && { vendorNumber: cell(cells, numberColumn) }),
    })),
    delimiter,
    hasBom: text.startsWith("\uFEFF"),
    tinColumn: places.get("tin")!,
    hasNumbers: numberColumn !== undefined,
  };
}

/** Returns the call that verifies a vendor. */
export function requestOf(vendor: Vendor, question: { checks: Check[]; mode: Mode }): VerifyRequest {
  return { ...vendor, ...question };
}

function vendorOf(cell: (column: string) => string | undefined): Row["vendor"] {
  const entityId = cell("entity_id");
  if (entityId) return { entity_id: entityId };
  const identifiers: Identifiers = Object.fromEntries(
    identifierTypes.flatMap((type) => {
      const value = cell(type);
      return value ? [[type, value]] : [];
    }),
  );
  if (Object.keys(identifiers).length === 0) {
    return { problem: `no identifier: fill one of ${columns.slice(0, -1).join(", ")}` };
  }
  return { identifiers, legal_name: cell("legal_name") };
}

function parseCells(text: string, delimiter: string, file: string): string[][] {
  try {
    return parse(text, { bom: true, delimiter, relax_column_count: true, skip_empty_lines: true });
  } catch (error) {
    throw new UsageError(`${file} is not valid CSV: ${(error as Error).message}.`, { cause: error });
  }
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(code === "ENOENT" ? `There is no file ${file}.` : message, { cause: error });
  }
  if (bytes.length > MAX_BYTES) throw new UsageError(`${file} has more than ${MAX_BYTES / 1_000_000} MB. Split it.`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${file} is not UTF-8. Save it as "CSV UTF-8".`, { cause: error });
  }
}
